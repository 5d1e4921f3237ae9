ALTER TABLE "outbox" DROP CONSTRAINT "outbox_message_id_unique";--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "audience" text DEFAULT 'all' NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_once" UNIQUE("message_id","audience");