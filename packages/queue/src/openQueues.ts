import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { jobId, type Message, messageSchema, type StepName } from './messages.ts';

/** Told once a minute while Redis is away, and once when it is back. */
export type Waiting = (state: { away: true; error: Error; seconds: number } | { away: false; seconds: number }) => void;

export interface Queues {
  /** Queues a message; false when Redis can't take it now: Postgres knows it, and the reconciler will bring it. */
  add(step: StepName, message: Message): Promise<boolean>;
  /** Calls `handle` for each message of a step, at most `concurrency` at once. */
  take(step: StepName, concurrency: number, handle: (message: Message) => Promise<void>): Taking;
  /** Messages waiting and being worked on. */
  count(step: StepName): Promise<{ waiting: number; active: number }>;
  close(): Promise<void>;
}

export interface Taking {
  /** Takes no more and waits for what is being worked on. */
  close(): Promise<void>;
}

/**
 * The queues of all steps on one Redis, which may be emptied or away at any time. `prefix` keeps several kdeltas on one
 * Redis apart. `onError` hears of a message that isn't one, and of a handler that threw.
 */
export function openQueues(
  redisUrl: string,
  options: { prefix?: string; onWaiting?: Waiting; onError?: (error: Error) => void } = {},
): Queues {
  const prefix = options.prefix ?? 'kdelta';
  const onError = options.onError ?? (() => {});
  const watch = waitingWatch(options.onWaiting ?? (() => {}));
  const connect = () => {
    const redis = new Redis(redisUrl, {
      maxRetriesPerRequest: null,
      retryStrategy: (times) => Math.min(200 * times, 2_000),
    });
    redis.on('error', watch.away);
    redis.on('ready', watch.back);
    return redis;
  };
  const connections: Redis[] = [];
  const queues = new Map<StepName, Queue>();
  const takings = new Set<Taking>();
  let shared: Redis | null = null;

  const queueOf = (step: StepName): Queue => {
    let queue = queues.get(step);
    if (!queue) {
      if (!shared) {
        shared = connect();
        connections.push(shared);
      }
      queue = new Queue(step, { connection: shared, prefix });
      queue.on('error', () => {});
      queues.set(step, queue);
    }
    return queue;
  };

  return {
    async add(step, message) {
      const queue = queueOf(step);
      // ioredis would hold the command until Redis is back; a step must not wait for that.
      if (shared?.status !== 'ready' && !(await becomesReady(shared as Redis, 1_500))) return false;
      try {
        await queue.add(step, message, { jobId: jobId(message), removeOnComplete: true, removeOnFail: true });
        return true;
      } catch (error) {
        onError(error as Error);
        return false;
      }
    },

    take(step, concurrency, handle) {
      const connection = connect();
      connections.push(connection);
      const worker = new Worker(
        step,
        async (job) => {
          try {
            await handle(messageSchema.parse(job.data));
          } catch (error) {
            onError(error as Error);
          }
        },
        {
          connection,
          prefix,
          concurrency,
          lockDuration: 60_000,
          stalledInterval: 30_000,
          maxStalledCount: 1,
          removeOnComplete: { count: 0 },
          removeOnFail: { count: 0 },
        },
      );
      // Such as a completion that finds its job flushed away: the work is done, and Postgres knows it.
      worker.on('error', () => {});
      const taking: Taking = {
        async close() {
          if (!takings.delete(taking)) return;
          await worker.close(connection.status !== 'ready').catch(() => {});
          connection.disconnect();
        },
      };
      takings.add(taking);
      return taking;
    },

    async count(step) {
      const counts = await queueOf(step).getJobCounts('waiting', 'prioritized', 'delayed', 'active');
      const { active = 0, ...rest } = counts;
      return { active, waiting: Object.values(rest).reduce((sum, n) => sum + n, 0) };
    },

    async close() {
      await Promise.all([...takings].map((taking) => taking.close()));
      await Promise.all([...queues.values()].map((queue) => queue.close().catch(() => {})));
      for (const connection of connections) connection.disconnect();
    },
  };
}

function becomesReady(redis: Redis, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (ready: boolean) => {
      clearTimeout(timer);
      redis.off('ready', onReady);
      resolve(ready);
    };
    const onReady = () => done(true);
    const timer = setTimeout(() => done(false), withinMs);
    redis.once('ready', onReady);
  });
}

function waitingWatch(onWaiting: Waiting) {
  let since = 0;
  let told = 0;
  return {
    away(error: Error) {
      const now = Date.now();
      since ||= now;
      if (now - told < 60_000) return;
      told = now;
      onWaiting({ away: true, error, seconds: Math.round((now - since) / 1000) });
    },
    back() {
      if (since) onWaiting({ away: false, seconds: Math.round((Date.now() - since) / 1000) });
      since = 0;
      told = 0;
    },
  };
}
