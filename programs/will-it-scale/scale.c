/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Runs one loop in 1 and in N tasks, as processes and as threads, and prints operations per second as a table:
 * tasks, processes, processes_idle, threads, threads_idle, linear. Counting begins after a second of warm-up.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_TASKS 1024
#define CHUNK (2ul << 20)
#define WARM_UP_SECONDS 1

struct counter {
	volatile uint64_t ops;
} __attribute__((aligned(256)));

struct test {
	const char *name;
	void (*loop)(struct counter *counter);
};

static struct counter *counters;
static size_t page_size;

static void die(const char *what)
{
	fprintf(stderr, "scale: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static void touch(char *memory, struct counter *counter)
{
	for (size_t at = 0; at < CHUNK; at += page_size) {
		((volatile char *)memory)[at] = 1;
		counter->ops++;
	}
}

static void fault_loop(struct counter *counter, int flags, int fd)
{
	for (;;) {
		char *memory = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, flags, fd, 0);

		if (memory == MAP_FAILED)
			die("mmap");
		madvise(memory, CHUNK, MADV_NOHUGEPAGE);
		touch(memory, counter);
		munmap(memory, CHUNK);
	}
}

static int chunk_file(void)
{
	char name[] = "scale-XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0 || unlink(name) || ftruncate(fd, CHUNK))
		die("a file in the current folder");
	return fd;
}

static void page_fault1(struct counter *counter)
{
	fault_loop(counter, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void page_fault2(struct counter *counter)
{
	fault_loop(counter, MAP_PRIVATE, chunk_file());
}

static void page_fault3(struct counter *counter)
{
	fault_loop(counter, MAP_SHARED, chunk_file());
}

static void mmap1(struct counter *counter)
{
	for (;; counter->ops++) {
		char *memory = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			die("mmap");
		munmap(memory, CHUNK);
	}
}

static void malloc_loop(struct counter *counter, size_t bytes)
{
	for (;; counter->ops++) {
		char *memory = malloc(bytes);

		if (!memory)
			die("malloc");
		*(volatile char *)memory = 1;
		free(memory);
	}
}

static void malloc1(struct counter *counter)
{
	malloc_loop(counter, CHUNK);
}

static void malloc2(struct counter *counter)
{
	malloc_loop(counter, 1024);
}

static void getppid1(struct counter *counter)
{
	for (;; counter->ops++)
		syscall(SYS_getppid);
}

static void pipe1(struct counter *counter)
{
	int fd[2];
	char byte = 0;

	if (pipe(fd))
		die("pipe");
	for (;; counter->ops++)
		if (write(fd[1], &byte, 1) != 1 || read(fd[0], &byte, 1) != 1)
			die("pipe");
}

static void futex1(struct counter *counter)
{
	static __thread int word;

	for (;; counter->ops++)
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static const struct test tests[] = {
	{ "page_fault1", page_fault1 }, { "page_fault2", page_fault2 }, { "page_fault3", page_fault3 },
	{ "mmap1", mmap1 }, { "malloc1", malloc1 }, { "malloc2", malloc2 },
	{ "getppid1", getppid1 }, { "pipe1", pipe1 }, { "futex1", futex1 },
};

static const struct test *chosen;

static void *thread_main(void *argument)
{
	chosen->loop(argument);
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t total(int tasks)
{
	uint64_t sum = 0;

	for (int i = 0; i < tasks; i++)
		sum += counters[i].ops;
	return sum;
}

/* Idle and all jiffies of the machine. */
static void read_jiffies(double *idle, double *all)
{
	double v[8] = { 0 };
	FILE *file = fopen("/proc/stat", "r");

	*idle = *all = 0;
	if (!file)
		return;
	if (fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) == 8) {
		*idle = v[3];
		for (int i = 0; i < 8; i++)
			*all += v[i];
	}
	fclose(file);
}

struct result {
	double rate, idle;
};

static struct result measure(int tasks, double seconds)
{
	double begin, idle0, all0, idle1, all1;
	struct result result;
	uint64_t before;

	sleep(WARM_UP_SECONDS);
	read_jiffies(&idle0, &all0);
	before = total(tasks);
	begin = now();
	usleep(seconds * 1e6);
	result.rate = (total(tasks) - before) / (now() - begin);
	read_jiffies(&idle1, &all1);
	result.idle = all1 > all0 ? 100 * (idle1 - idle0) / (all1 - all0) : 0;
	return result;
}

/* The whole test runs in a child, which is killed at the end: threads in endless loops need no other way out. */
static struct result run(int tasks, int threads, double seconds)
{
	struct result result;
	int fd[2];
	pid_t child;

	memset(counters, 0, MAX_TASKS * sizeof(*counters));
	if (pipe(fd))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (child == 0) {
		setpgid(0, 0);
		for (int i = 0; i < tasks; i++) {
			pthread_t thread;
			pid_t pid;

			if (threads) {
				errno = pthread_create(&thread, NULL, thread_main, &counters[i]);
				if (errno)
					die("pthread_create");
				continue;
			}
			pid = fork();
			if (pid < 0)
				die("fork");
			if (pid == 0) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				chosen->loop(&counters[i]);
			}
		}
		result = measure(tasks, seconds);
		if (write(fd[1], &result, sizeof(result)) != sizeof(result))
			die("pipe");
		_exit(0);
	}
	close(fd[1]);
	if (read(fd[0], &result, sizeof(result)) != sizeof(result)) {
		errno = ECHILD;
		die("a task ended");
	}
	close(fd[0]);
	kill(-child, SIGKILL);
	waitpid(child, NULL, 0);
	return result;
}

int main(int argc, char **argv)
{
	int most, counts[2] = { 1, 0 };
	double seconds, single = 0;
	const char *mode;

	if (argc != 5) {
		fprintf(stderr, "usage: scale TEST process|thread|both TASKS SECONDS\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (strcmp(argv[1], tests[i].name) == 0)
			chosen = &tests[i];
	mode = argv[2];
	most = atoi(argv[3]);
	seconds = atof(argv[4]);
	if (!chosen || most < 1 || most > MAX_TASKS || seconds <= 0) {
		fprintf(stderr, "scale: no such test, or tasks not in 1..%d, or no time\n", MAX_TASKS);
		return 2;
	}
	page_size = sysconf(_SC_PAGESIZE);
	counters = mmap(NULL, MAX_TASKS * sizeof(*counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counters == MAP_FAILED)
		die("mmap");
	counts[1] = most;
	puts("tasks,processes,processes_idle,threads,threads_idle,linear");
	puts("0,0,100,0,100,0");
	for (int i = most == 1; i < 2; i++) {
		struct result processes = { 0, 0 }, threads = { 0, 0 };

		if (strcmp(mode, "thread"))
			processes = run(counts[i], 0, seconds);
		if (strcmp(mode, "process"))
			threads = run(counts[i], 1, seconds);
		if (counts[i] == 1)
			single = processes.rate > threads.rate ? processes.rate : threads.rate;
		printf("%d,%.0f,%.2f,%.0f,%.2f,%.0f\n", counts[i], processes.rate, processes.idle, threads.rate, threads.idle,
		       single * counts[i]);
		fflush(stdout);
	}
	return 0;
}
