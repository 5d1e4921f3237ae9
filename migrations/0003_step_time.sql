CREATE TABLE "step_time" (
	"step" text NOT NULL,
	"failed" boolean NOT NULL,
	"runs" bigint NOT NULL,
	"seconds" double precision NOT NULL,
	"buckets" bigint[] NOT NULL,
	CONSTRAINT "step_time_step_failed_pk" PRIMARY KEY("step","failed")
);
