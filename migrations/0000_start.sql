CREATE TABLE "api_token" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "api_token_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"hash" text NOT NULL,
	"scopes" text[] NOT NULL,
	"made_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"used_at" timestamp with time zone,
	CONSTRAINT "api_token_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "artifact" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "artifact_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"boot_id" integer,
	"kernel_id" integer,
	"report_id" integer,
	"name" text NOT NULL,
	"sha256" text NOT NULL,
	"bytes" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bisect" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "bisect_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"tree_id" integer NOT NULL,
	"good_sha" text NOT NULL,
	"bad_sha" text NOT NULL,
	"testcase_id" integer NOT NULL,
	"metric_id" integer NOT NULL,
	"pair_id" integer,
	"state" text DEFAULT 'wanted' NOT NULL,
	"budget" integer DEFAULT 40 NOT NULL,
	"certainty" real DEFAULT 0.95 NOT NULL,
	"posterior" jsonb,
	"untestable" jsonb,
	"culprit_sha" text,
	"result" jsonb,
	"verify_pair_id" integer,
	"failure" jsonb,
	"asked_by" text DEFAULT 'bot' NOT NULL,
	"asked_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone,
	"claim" uuid,
	"claim_until" timestamp with time zone,
	"attempt" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bisect_probe" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "bisect_probe_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"bisect_id" integer NOT NULL,
	"seq" integer NOT NULL,
	"sha" text NOT NULL,
	"kernel_id" integer,
	"boots" integer NOT NULL,
	"boot_ids" integer[] NOT NULL,
	"values" double precision[],
	"state" text DEFAULT 'wanted' NOT NULL,
	"why" text DEFAULT '' NOT NULL,
	"posterior_before" jsonb,
	"posterior_after" jsonb,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "bisect_probe_seq" UNIQUE("bisect_id","seq")
);
--> statement-breakpoint
CREATE TABLE "boot" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "boot_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"kernel_id" integer NOT NULL,
	"testcase_id" integer NOT NULL,
	"host_id" integer,
	"pair_id" integer,
	"bisect_id" integer,
	"saved_as" text,
	"block" integer DEFAULT 0 NOT NULL,
	"seq" integer DEFAULT 0 NOT NULL,
	"priority" integer DEFAULT 0 NOT NULL,
	"state" text DEFAULT 'wanted' NOT NULL,
	"failure" jsonb,
	"token" uuid DEFAULT gen_random_uuid() NOT NULL,
	"boot_uuid" text,
	"epoch" integer,
	"progress" jsonb,
	"timeline" jsonb,
	"environment" jsonb,
	"work_dir" text,
	"wanted_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"retry_of" integer,
	"claim" uuid,
	"claim_until" timestamp with time zone,
	"attempt" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "boot_matrix" (
	"boot_id" integer PRIMARY KEY NOT NULL,
	"layout_id" integer NOT NULL,
	"block" integer,
	"values" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "branch_head" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "branch_head_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"tree_id" integer NOT NULL,
	"branch" text NOT NULL,
	"sha" text NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"state" text DEFAULT 'seen' NOT NULL,
	"note" text,
	"claim" uuid,
	"claim_until" timestamp with time zone,
	"attempt" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "commit" (
	"sha" text PRIMARY KEY NOT NULL,
	"parents" text[] NOT NULL,
	"author_name" text NOT NULL,
	"author_email" text NOT NULL,
	"committer_name" text NOT NULL,
	"committer_email" text NOT NULL,
	"authored_at" timestamp with time zone NOT NULL,
	"committed_at" timestamp with time zone NOT NULL,
	"subject" text NOT NULL,
	"body" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "delta" (
	"judgement_id" integer NOT NULL,
	"metric_id" integer NOT NULL,
	"kpi" boolean NOT NULL,
	"verdict" text NOT NULL,
	"change_pct" double precision,
	"ci_lo" double precision,
	"ci_hi" double precision,
	"p" double precision,
	"q" double precision,
	"detectable_pct" double precision,
	"base_mean" double precision,
	"head_mean" double precision,
	"flags" text[] NOT NULL,
	CONSTRAINT "delta_judgement_id_metric_id_pk" PRIMARY KEY("judgement_id","metric_id")
);
--> statement-breakpoint
CREATE TABLE "event" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "event_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"actor" text DEFAULT 'kdelta' NOT NULL,
	"data" jsonb DEFAULT '{}'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "host" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "host_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"tbox_group" text NOT NULL,
	"config" jsonb NOT NULL,
	"state" text DEFAULT 'idle' NOT NULL,
	"epoch" integer DEFAULT 0 NOT NULL,
	"lease_owner" uuid,
	"lease_until" timestamp with time zone,
	"lease_boot_id" integer,
	"failures" integer DEFAULT 0 NOT NULL,
	"health" jsonb,
	"note" text,
	CONSTRAINT "host_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "judgement" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "judgement_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"pair_id" integer,
	"base_kernel_id" integer NOT NULL,
	"head_kernel_id" integer NOT NULL,
	"testcase_id" integer NOT NULL,
	"base_boots" integer[] NOT NULL,
	"head_boots" integer[] NOT NULL,
	"history_cutoff" integer NOT NULL,
	"judge_version" text NOT NULL,
	"verdict" text NOT NULL,
	"line" text NOT NULL,
	"packed" "bytea" NOT NULL,
	"made_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "kernel" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "kernel_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"tree_id" integer,
	"repo" text,
	"sha" text,
	"package" text,
	"package_version" text,
	"kconfig" text DEFAULT '' NOT NULL,
	"kconfig_hash" text DEFAULT '' NOT NULL,
	"compiler" text DEFAULT '' NOT NULL,
	"cmdline" text DEFAULT '' NOT NULL,
	"build_key" text,
	"release" text,
	"build_id" text,
	"load_hash" text,
	"same_as" integer,
	"state" text DEFAULT 'wanted' NOT NULL,
	"failure" jsonb,
	"artifact" jsonb,
	"image_bytes" integer,
	"build_ms" integer,
	"wanted_at" timestamp with time zone DEFAULT now() NOT NULL,
	"built_at" timestamp with time zone,
	"priority" integer DEFAULT 0 NOT NULL,
	"progress" jsonb,
	"claim" uuid,
	"claim_until" timestamp with time zone,
	"attempt" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "kernel_build" UNIQUE NULLS NOT DISTINCT("kind","tree_id","sha","package","package_version","kconfig_hash","cmdline")
);
--> statement-breakpoint
CREATE TABLE "kpi_sample" (
	"testcase_id" integer NOT NULL,
	"metric_id" integer NOT NULL,
	"boot_id" integer NOT NULL,
	"value" double precision NOT NULL,
	CONSTRAINT "kpi_sample_testcase_id_metric_id_boot_id_pk" PRIMARY KEY("testcase_id","metric_id","boot_id")
);
--> statement-breakpoint
CREATE TABLE "matrix_block" (
	"layout_id" integer NOT NULL,
	"block" integer NOT NULL,
	"boot_ids" integer[] NOT NULL,
	CONSTRAINT "matrix_block_layout_id_block_pk" PRIMARY KEY("layout_id","block")
);
--> statement-breakpoint
CREATE TABLE "metric" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "metric_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	CONSTRAINT "metric_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "metric_block" (
	"layout_id" integer NOT NULL,
	"grp" smallint NOT NULL,
	"block" integer NOT NULL,
	"values" "bytea" NOT NULL,
	CONSTRAINT "metric_block_layout_id_grp_block_pk" PRIMARY KEY("layout_id","grp","block")
);
--> statement-breakpoint
CREATE TABLE "metric_layout" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "metric_layout_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"testcase_id" integer NOT NULL,
	"metric_ids" integer[] NOT NULL
);
--> statement-breakpoint
CREATE TABLE "noise" (
	"testcase_id" integer NOT NULL,
	"metric_id" integer NOT NULL,
	"model" jsonb NOT NULL,
	"up_to_boot" integer NOT NULL,
	CONSTRAINT "noise_testcase_id_metric_id_pk" PRIMARY KEY("testcase_id","metric_id")
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "outbox_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"report_id" integer NOT NULL,
	"message_id" text NOT NULL,
	"envelope_from" text NOT NULL,
	"envelope_to" text[] NOT NULL,
	"raw" "bytea" NOT NULL,
	"state" text DEFAULT 'queued' NOT NULL,
	"response" text,
	"sent_at" timestamp with time zone,
	"next_try_at" timestamp with time zone DEFAULT now() NOT NULL,
	"claim" uuid,
	"claim_until" timestamp with time zone,
	"attempt" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "outbox_message_id_unique" UNIQUE("message_id")
);
--> statement-breakpoint
CREATE TABLE "pair" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "pair_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"tree_id" integer,
	"branch" text,
	"base_kernel_id" integer NOT NULL,
	"head_kernel_id" integer NOT NULL,
	"testcase_id" integer NOT NULL,
	"state" text DEFAULT 'planned' NOT NULL,
	"failure" jsonb,
	"looks" integer DEFAULT 0 NOT NULL,
	"verdict" text,
	"line" text,
	"judgement_id" integer,
	"bisect_id" integer,
	"planned_at" timestamp with time zone DEFAULT now() NOT NULL,
	"judged_at" timestamp with time zone,
	"claim" uuid,
	"claim_until" timestamp with time zone,
	"attempt" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "pair_once" UNIQUE("base_kernel_id","head_kernel_id","testcase_id")
);
--> statement-breakpoint
CREATE TABLE "report" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "report_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"state" text DEFAULT 'draft' NOT NULL,
	"tree_id" integer NOT NULL,
	"culprit_sha" text NOT NULL,
	"bisect_id" integer,
	"pair_id" integer,
	"judgement_id" integer,
	"subject" text NOT NULL,
	"body" text NOT NULL,
	"to" text[] NOT NULL,
	"cc" text[] NOT NULL,
	"dropped" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"note" text,
	"message_id" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"state_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "report_message_id_unique" UNIQUE("message_id"),
	CONSTRAINT "report_once" UNIQUE("tree_id","culprit_sha","kind")
);
--> statement-breakpoint
CREATE TABLE "testcase" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "testcase_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"key" text NOT NULL,
	"name" text NOT NULL,
	"program" text NOT NULL,
	"tbox_group" text NOT NULL,
	"params" jsonb NOT NULL,
	"versions" jsonb NOT NULL,
	"job" jsonb NOT NULL,
	"job_yaml" text DEFAULT '' NOT NULL,
	"deterministic" boolean DEFAULT false NOT NULL,
	CONSTRAINT "testcase_key_unique" UNIQUE("key")
);
--> statement-breakpoint
CREATE TABLE "tree" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tree_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"url" text NOT NULL,
	"config" jsonb NOT NULL,
	"active" boolean DEFAULT true NOT NULL,
	"fetched_at" timestamp with time zone,
	"fetch_error" text,
	"fetch_failures" integer DEFAULT 0 NOT NULL,
	"next_fetch_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tree_name_unique" UNIQUE("name")
);
--> statement-breakpoint
ALTER TABLE "artifact" ADD CONSTRAINT "artifact_boot_id_boot_id_fk" FOREIGN KEY ("boot_id") REFERENCES "public"."boot"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifact" ADD CONSTRAINT "artifact_kernel_id_kernel_id_fk" FOREIGN KEY ("kernel_id") REFERENCES "public"."kernel"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bisect" ADD CONSTRAINT "bisect_tree_id_tree_id_fk" FOREIGN KEY ("tree_id") REFERENCES "public"."tree"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bisect" ADD CONSTRAINT "bisect_testcase_id_testcase_id_fk" FOREIGN KEY ("testcase_id") REFERENCES "public"."testcase"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bisect" ADD CONSTRAINT "bisect_metric_id_metric_id_fk" FOREIGN KEY ("metric_id") REFERENCES "public"."metric"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bisect" ADD CONSTRAINT "bisect_pair_id_pair_id_fk" FOREIGN KEY ("pair_id") REFERENCES "public"."pair"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bisect_probe" ADD CONSTRAINT "bisect_probe_bisect_id_bisect_id_fk" FOREIGN KEY ("bisect_id") REFERENCES "public"."bisect"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bisect_probe" ADD CONSTRAINT "bisect_probe_kernel_id_kernel_id_fk" FOREIGN KEY ("kernel_id") REFERENCES "public"."kernel"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "boot" ADD CONSTRAINT "boot_kernel_id_kernel_id_fk" FOREIGN KEY ("kernel_id") REFERENCES "public"."kernel"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "boot" ADD CONSTRAINT "boot_testcase_id_testcase_id_fk" FOREIGN KEY ("testcase_id") REFERENCES "public"."testcase"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "boot" ADD CONSTRAINT "boot_host_id_host_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."host"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "boot_matrix" ADD CONSTRAINT "boot_matrix_boot_id_boot_id_fk" FOREIGN KEY ("boot_id") REFERENCES "public"."boot"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "boot_matrix" ADD CONSTRAINT "boot_matrix_layout_id_metric_layout_id_fk" FOREIGN KEY ("layout_id") REFERENCES "public"."metric_layout"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "branch_head" ADD CONSTRAINT "branch_head_tree_id_tree_id_fk" FOREIGN KEY ("tree_id") REFERENCES "public"."tree"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delta" ADD CONSTRAINT "delta_judgement_id_judgement_id_fk" FOREIGN KEY ("judgement_id") REFERENCES "public"."judgement"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delta" ADD CONSTRAINT "delta_metric_id_metric_id_fk" FOREIGN KEY ("metric_id") REFERENCES "public"."metric"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "judgement" ADD CONSTRAINT "judgement_pair_id_pair_id_fk" FOREIGN KEY ("pair_id") REFERENCES "public"."pair"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kernel" ADD CONSTRAINT "kernel_tree_id_tree_id_fk" FOREIGN KEY ("tree_id") REFERENCES "public"."tree"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kernel" ADD CONSTRAINT "kernel_sha_commit_sha_fk" FOREIGN KEY ("sha") REFERENCES "public"."commit"("sha") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kpi_sample" ADD CONSTRAINT "kpi_sample_boot_id_boot_id_fk" FOREIGN KEY ("boot_id") REFERENCES "public"."boot"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "matrix_block" ADD CONSTRAINT "matrix_block_layout_id_metric_layout_id_fk" FOREIGN KEY ("layout_id") REFERENCES "public"."metric_layout"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "metric_layout" ADD CONSTRAINT "metric_layout_testcase_id_testcase_id_fk" FOREIGN KEY ("testcase_id") REFERENCES "public"."testcase"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "noise" ADD CONSTRAINT "noise_testcase_id_testcase_id_fk" FOREIGN KEY ("testcase_id") REFERENCES "public"."testcase"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "noise" ADD CONSTRAINT "noise_metric_id_metric_id_fk" FOREIGN KEY ("metric_id") REFERENCES "public"."metric"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_report_id_report_id_fk" FOREIGN KEY ("report_id") REFERENCES "public"."report"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pair" ADD CONSTRAINT "pair_tree_id_tree_id_fk" FOREIGN KEY ("tree_id") REFERENCES "public"."tree"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pair" ADD CONSTRAINT "pair_base_kernel_id_kernel_id_fk" FOREIGN KEY ("base_kernel_id") REFERENCES "public"."kernel"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pair" ADD CONSTRAINT "pair_head_kernel_id_kernel_id_fk" FOREIGN KEY ("head_kernel_id") REFERENCES "public"."kernel"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pair" ADD CONSTRAINT "pair_testcase_id_testcase_id_fk" FOREIGN KEY ("testcase_id") REFERENCES "public"."testcase"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "report" ADD CONSTRAINT "report_tree_id_tree_id_fk" FOREIGN KEY ("tree_id") REFERENCES "public"."tree"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "report" ADD CONSTRAINT "report_bisect_id_bisect_id_fk" FOREIGN KEY ("bisect_id") REFERENCES "public"."bisect"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "report" ADD CONSTRAINT "report_pair_id_pair_id_fk" FOREIGN KEY ("pair_id") REFERENCES "public"."pair"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "report" ADD CONSTRAINT "report_judgement_id_judgement_id_fk" FOREIGN KEY ("judgement_id") REFERENCES "public"."judgement"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "artifact_boot" ON "artifact" USING btree ("boot_id");--> statement-breakpoint
CREATE INDEX "artifact_kernel" ON "artifact" USING btree ("kernel_id");--> statement-breakpoint
CREATE INDEX "boot_testcase_kernel" ON "boot" USING btree ("testcase_id","kernel_id");--> statement-breakpoint
CREATE INDEX "boot_testcase" ON "boot" USING btree ("testcase_id","id");--> statement-breakpoint
CREATE INDEX "boot_pair" ON "boot" USING btree ("pair_id");--> statement-breakpoint
CREATE INDEX "boot_bisect" ON "boot" USING btree ("bisect_id");--> statement-breakpoint
CREATE INDEX "boot_open" ON "boot" USING btree ("state") WHERE state not in ('done','failed','cancelled');--> statement-breakpoint
CREATE INDEX "boot_saved" ON "boot" USING btree ("saved_as");--> statement-breakpoint
CREATE INDEX "boot_matrix_tail" ON "boot_matrix" USING btree ("layout_id","boot_id") WHERE block is null;--> statement-breakpoint
CREATE INDEX "branch_head_tree" ON "branch_head" USING btree ("tree_id","branch","id");--> statement-breakpoint
CREATE INDEX "delta_metric" ON "delta" USING btree ("metric_id");--> statement-breakpoint
CREATE INDEX "event_subject" ON "event" USING btree ("subject","id");--> statement-breakpoint
CREATE INDEX "event_kind" ON "event" USING btree ("kind","id");--> statement-breakpoint
CREATE INDEX "judgement_pair" ON "judgement" USING btree ("pair_id");--> statement-breakpoint
CREATE INDEX "kernel_sha" ON "kernel" USING btree ("sha");--> statement-breakpoint
CREATE INDEX "kernel_load" ON "kernel" USING btree ("load_hash","cmdline");--> statement-breakpoint
CREATE INDEX "metric_layout_testcase" ON "metric_layout" USING btree ("testcase_id","id");--> statement-breakpoint
CREATE INDEX "pair_tree" ON "pair" USING btree ("tree_id","branch","id");--> statement-breakpoint
-- The values are deflated already: don't let Postgres try again.
ALTER TABLE "boot_matrix" ALTER COLUMN "values" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "metric_block" ALTER COLUMN "values" SET STORAGE EXTERNAL;
