ALTER TABLE "judgement" ADD COLUMN "history_boots" integer[];--> statement-breakpoint
ALTER TABLE "judgement" ADD COLUMN "asked" jsonb;--> statement-breakpoint
ALTER TABLE "noise" ADD COLUMN "kpi" boolean NOT NULL;--> statement-breakpoint
ALTER TABLE "noise" ADD COLUMN "rel_variance" double precision NOT NULL;--> statement-breakpoint
ALTER TABLE "noise" ADD COLUMN "df" double precision NOT NULL;--> statement-breakpoint
ALTER TABLE "noise" ADD COLUMN "level" double precision NOT NULL;--> statement-breakpoint
ALTER TABLE "noise" ADD COLUMN "between_variance" double precision;--> statement-breakpoint
ALTER TABLE "noise" ADD COLUMN "kernels" integer NOT NULL;--> statement-breakpoint
ALTER TABLE "noise" ADD COLUMN "boots" integer NOT NULL;--> statement-breakpoint
ALTER TABLE "noise" ADD COLUMN "judge_version" text NOT NULL;--> statement-breakpoint
ALTER TABLE "noise" DROP COLUMN "model";