/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Page fault test: workers write to every page of one mapping and the time is taken.
 *
 * One private anonymous mapping (or /dev/zero, or SysV shared memory) is made before the workers start, its size rounded up to a
 * multiple of workers times pages. Each worker writes one byte in each of the first `-c` cachelines of every page of its own
 * contiguous slice. The options and the printed line are those of the pft that MMTests and lkp-tests use, so that their readers
 * work; the line is the only one on standard output unless -T, -v, -N or --hist ask for more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORKERS 128
#define MAX_BOUNDS 32
#define CACHELINE 64
#define VERSION "pft (kdelta) 1.0"

struct worker {
	struct timespec start, end;
	double user, sys;
	long minor_faults;
	int failed;
	unsigned epoch;			/* the reset that its counters have seen */
	uint64_t hist[MAX_BOUNDS + 1];
} __attribute__((aligned(256)));

/* In a shared mapping: workers may be processes. */
struct shared {
	pthread_barrier_t ready;
	volatile unsigned epoch;
	struct worker worker[MAX_WORKERS];
};

static struct {
	size_t bytes;
	int workers, processes, cachelines, sleep_seconds;
	int bzero_pages, mlock_pages, sysv, shm_lock, dev_zero, policy, affinity, fifo;
	int numa_maps, pause_at_end, title, verbose, thp;
	int bounds;			/* 0: no histogram */
	uint64_t bound[MAX_BOUNDS];
	const char *tag;
} opt = { .workers = 1, .cachelines = 1 };

static struct shared *shared;
static char *memory;
static size_t page_size, slice;
static cpu_set_t allowed;
static volatile int running;

static void say(const char *format, va_list args)
{
	fputs("pft: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

static void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	exit(1);
}

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

static double between(struct timespec a, struct timespec b)
{
	return (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9;
}

static int earlier(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec;
}

static inline void touch_page(char *page)
{
	if (opt.bzero_pages) {
		memset(page, 0, page_size);
		return;
	}
	for (int i = 0; i < opt.cachelines; i++)
		((volatile char *)page)[(size_t)i * CACHELINE] = 1;
}

static void touch_timed(struct worker *w, char *page)
{
	uint64_t begin, took;
	int bucket = 0;

	/* A reset raises the epoch; each worker clears its own counters, so no count is lost or torn. */
	if (w->epoch != shared->epoch) {
		w->epoch = shared->epoch;
		memset(w->hist, 0, sizeof(w->hist));
	}
	begin = now_ns();
	touch_page(page);
	took = now_ns() - begin;
	while (bucket < opt.bounds && took >= opt.bound[bucket])
		bucket++;
	w->hist[bucket]++;
}

static void pin(int index)
{
	cpu_set_t one;
	int n = index % CPU_COUNT(&allowed);

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || n-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			warn("cannot pin a worker to CPU %d: %s", cpu, strerror(errno));
		return;
	}
}

static void work(int index)
{
	struct worker *w = &shared->worker[index];
	char *begin = memory + slice * index, *end = begin + slice;
	int who = opt.processes ? RUSAGE_SELF : RUSAGE_THREAD;
	struct rusage before, after;
	struct sched_param param = { .sched_priority = 1 };

	if (opt.affinity)
		pin(index);
	if (opt.fifo && sched_setscheduler(0, SCHED_FIFO, &param))
		warn("cannot run as SCHED_FIFO: %s", strerror(errno));
	pthread_barrier_wait(&shared->ready);

	getrusage(who, &before);
	clock_gettime(CLOCK_MONOTONIC, &w->start);
	if (opt.mlock_pages && mlock(begin, slice)) {
		w->failed = errno;
	} else if (opt.bounds) {
		for (char *page = begin; page < end; page += page_size)
			touch_timed(w, page);
	} else {
		for (char *page = begin; page < end; page += page_size)
			touch_page(page);
	}
	clock_gettime(CLOCK_MONOTONIC, &w->end);
	getrusage(who, &after);

	w->user = seconds(after.ru_utime) - seconds(before.ru_utime);
	w->sys = seconds(after.ru_stime) - seconds(before.ru_stime);
	w->minor_faults = after.ru_minflt - before.ru_minflt;
}

static void *thread_main(void *argument)
{
	work((int)(intptr_t)argument);
	return NULL;
}

/* Non-cumulative, strictly below each bound; the last bucket has none. */
static void print_histogram(void)
{
	char label[32];

	printf("# pgfault latency histogram (ns):\n");
	for (int b = 0; b <= opt.bounds; b++) {
		uint64_t sum = 0;

		for (int i = 0; i < opt.workers; i++)
			if (shared->worker[i].epoch == shared->epoch)
				sum += shared->worker[i].hist[b];
		if (b < opt.bounds)
			snprintf(label, sizeof(label), "%llu", (unsigned long long)opt.bound[b]);
		else
			strcpy(label, "inf");
		printf("# < %-15s%llu\n", label, (unsigned long long)sum);
	}
	fflush(stdout);
}

/* Dump and reset while the workers run. */
static void *signal_main(void *argument)
{
	sigset_t *set = argument;
	int signal;

	while (sigwait(set, &signal) == 0 && running) {
		if (signal == SIGUSR1)
			print_histogram();
		else
			shared->epoch++;
	}
	return NULL;
}

static void start_worker(int i, pthread_t *thread, pid_t *child)
{
	int error;

	if (!opt.processes) {
		error = pthread_create(thread, NULL, thread_main, (void *)(intptr_t)i);
		if (error)
			die("cannot start thread %d: %s", i, strerror(error));
		return;
	}
	*child = fork();
	if (*child < 0)
		die("cannot start process %d: %s", i, strerror(errno));
	if (*child == 0) {
		/* When the parent fails to start the others, nobody waits at the barrier for ever. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		work(i);
		_exit(0);
	}
}

static void run_workers(void)
{
	static pthread_t thread[MAX_WORKERS];
	static pid_t child[MAX_WORKERS];
	static sigset_t set;
	pthread_t signals;
	pthread_barrierattr_t attributes;

	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->ready, &attributes, opt.workers + 1);

	if (opt.bounds) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigaddset(&set, SIGUSR2);
		pthread_sigmask(SIG_BLOCK, &set, NULL);
	}
	for (int i = 0; i < opt.workers; i++)
		start_worker(i, &thread[i], &child[i]);
	running = 1;
	if (opt.bounds && pthread_create(&signals, NULL, signal_main, &set))
		die("cannot start the signal thread");
	if (opt.sleep_seconds)
		sleep(opt.sleep_seconds);
	pthread_barrier_wait(&shared->ready);

	for (int i = 0; i < opt.workers; i++) {
		int status;

		if (!opt.processes) {
			pthread_join(thread[i], NULL);
			continue;
		}
		while (waitpid(child[i], &status, 0) < 0 && errno == EINTR)
			;
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			die("a worker was killed (out of memory?)");
	}
	if (opt.bounds) {
		running = 0;
		pthread_kill(signals, SIGUSR1);
		pthread_join(signals, NULL);
	}
}

static void make_memory(void)
{
	if (!opt.thp && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		warn("cannot switch huge pages off for this process: %s", strerror(errno));
	if (opt.sysv) {
		int id = shmget(IPC_PRIVATE, opt.bytes, IPC_CREAT | 0600);

		if (id < 0)
			die("shmget of %zu bytes: %s", opt.bytes, strerror(errno));
		memory = shmat(id, NULL, 0);
		if (opt.shm_lock && shmctl(id, SHM_LOCK, NULL))
			warn("SHM_LOCK: %s", strerror(errno));
		shmctl(id, IPC_RMID, NULL);
	} else if (opt.dev_zero) {
		int fd = open("/dev/zero", O_RDWR);

		if (fd < 0)
			die("/dev/zero: %s", strerror(errno));
		memory = mmap(NULL, opt.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		close(fd);
	} else {
		memory = mmap(NULL, opt.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	if (memory == MAP_FAILED)
		die("cannot map %zu bytes: %s", opt.bytes, strerror(errno));
	/* EINVAL: a kernel without huge pages. */
	if (madvise(memory, opt.bytes, opt.thp ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) && errno != EINVAL)
		warn("madvise: %s", strerror(errno));
	/* MPOL_PREFERRED without nodes: local, as a policy of this mapping and not of the task. */
	if (opt.policy && syscall(SYS_mbind, memory, opt.bytes, 1, NULL, 0UL, 0U))
		warn("cannot set the mapping's memory policy: %s", strerror(errno));
}

static void print_numa_maps(void)
{
	char line[4096], address[32];
	FILE *file = fopen("/proc/self/numa_maps", "r");

	if (!file) {
		warn("no /proc/self/numa_maps");
		return;
	}
	snprintf(address, sizeof(address), "%lx ", (unsigned long)memory);
	while (fgets(line, sizeof(line), file))
		if (strstr(line, address))
			printf("# %s", line);
	fclose(file);
}

static void print_title(void)
{
	printf("TAG pft:%s-%s%s", opt.sysv ? "shmem" : "anon", opt.policy ? "vma-policy" : "sys-default",
	       opt.mlock_pages ? "-mlocked" : opt.shm_lock ? "-shm_locked" : "");
	if (opt.tag)
		printf(":%s", opt.tag);
	printf("\n  Gb  Thr CLine   User     System     Wall    flt/cpu/s fault/wsec\n");
}

static void print_result(void)
{
	struct timespec start = shared->worker[0].start, end = shared->worker[0].end;
	double user = 0, sys = 0, cpu, wall;
	double pages = (double)(opt.bytes / page_size);
	long faults = 0;

	for (int i = 0; i < opt.workers; i++) {
		struct worker *w = &shared->worker[i];

		if (w->failed)
			die("mlock of %zu bytes: %s (ulimit -l)", slice, strerror(w->failed));
		if (earlier(w->start, start))
			start = w->start;
		if (earlier(end, w->end))
			end = w->end;
		user += w->user;
		sys += w->sys;
		faults += w->minor_faults;
	}
	/* Tiny sizes end within the clocks' resolution. */
	wall = between(start, end) > 1e-9 ? between(start, end) : 1e-9;
	cpu = user + sys > 1e-6 ? user + sys : 1e-6;
	if (!opt.thp && (faults < pages * 0.9 || faults > pages * 1.1 + 10))
		warn("the kernel counted %ld minor faults for %.0f pages", faults, pages);
	if (opt.verbose)
		printf("# minor faults %ld, pages %.0f, huge pages %s\n", faults, pages, opt.thp ? "wanted" : "off");
	if (opt.title)
		print_title();
	printf(" %3ld %4ld %3ld %8.2fs %8.2fs %8.2fs  %10.3f %10.3f\n",
	       (long)((opt.bytes + page_size * opt.workers) >> 30), (long)opt.workers, (long)opt.cachelines,
	       user, sys, wall, pages / cpu, pages / wall);
	fflush(stdout);
}

static void usage(FILE *to)
{
	fputs("usage: pft [options] [tag]\n"
	      "  -m SIZE[K|M|G|P]  memory; P: pages (default one page)\n"
	      "  -n N | -t N       processes, or threads (default 1 thread; at most 128 and the allowed CPUs)\n"
	      "  -c N              cachelines written per page (default 1)\n"
	      "  -z                clear whole pages instead\n"
	      "  -l                mlock the memory, which faults it in\n"
	      "  -S, -L            SysV shared memory; and lock it\n"
	      "  -Z                map /dev/zero\n"
	      "  -p                a memory policy (local) for the mapping\n"
	      "  -a                one CPU per worker\n"
	      "  -f                SCHED_FIFO\n"
	      "  -F                accepted, without effect\n"
	      "  -s SECONDS        sleep before the workers start\n"
	      "  -N                print the mapping's line of numa_maps\n"
	      "  -P                pause at the end until a signal\n"
	      "  -T                a title line\n"
	      "  -v, -V, -h        more lines, version, this text\n"
	      "  --hist[=B1,B2,..] histogram of fault times, up to 32 ascending bounds in ns;\n"
	      "                    SIGUSR1 prints it, SIGUSR2 resets it\n"
	      "  --thp             let the kernel use huge pages (default: off)\n", to);
}

static long number(const char *text, const char *what, long least, long most)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most)
		die("%s: %s isn't a number from %ld to %ld", what, text, least, most);
	return value;
}

static size_t size_of(const char *text)
{
	char *end;
	unsigned long long value, unit = 1;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (end != text && *end) {
		switch (*end++) {
		case 'k': case 'K': unit = 1ull << 10; break;
		case 'm': case 'M': unit = 1ull << 20; break;
		case 'g': case 'G': unit = 1ull << 30; break;
		case 'p': case 'P': unit = page_size; break;
		default: end--;
		}
	}
	if (errno || end == text || *end || *text == '-' || value == 0 || value > (ULLONG_MAX >> 2) / unit)
		die("-m: %s isn't a size (like 64M, 2G or 512P)", text);
	return value * unit;
}

static void read_bounds(const char *p)
{
	static const uint64_t usual[] = { 600, 1200, 2400, 4800, 9600, 19200, 38400 };
	uint64_t last = 0;

	opt.bounds = 0;
	if (!p) {
		opt.bounds = sizeof(usual) / sizeof(usual[0]);
		memcpy(opt.bound, usual, sizeof(usual));
		return;
	}
	for (;; p++) {
		char *end;
		unsigned long long value;

		errno = 0;
		value = strtoull(p, &end, 10);
		if (errno || end == p || *p == '-' || (*end && *end != ','))
			die("--hist: %s isn't a list of numbers", p);
		if (value <= last)
			die("--hist: bounds must ascend from 1, and %llu follows %llu", value, (unsigned long long)last);
		if (opt.bounds == MAX_BOUNDS)
			die("--hist: at most %d bounds", MAX_BOUNDS);
		opt.bound[opt.bounds++] = last = value;
		if (!*end)
			return;
		p = end;
	}
}

static void read_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "hist", optional_argument, NULL, 1 },
		{ "thp", no_argument, NULL, 2 },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "m:n:t:c:zlSLZpafFs:NPTvVh", options, NULL)) != -1) {
		switch (c) {
		case 'm': opt.bytes = size_of(optarg); break;
		case 'n': opt.processes = 1; opt.workers = number(optarg, "-n", 1, 1000000); break;
		case 't': opt.processes = 0; opt.workers = number(optarg, "-t", 1, 1000000); break;
		case 'c': opt.cachelines = number(optarg, "-c", 1, page_size / CACHELINE); break;
		case 'z': opt.bzero_pages = 1; break;
		case 'l': opt.mlock_pages = 1; break;
		case 'S': opt.sysv = 1; break;
		case 'L': opt.shm_lock = 1; break;
		case 'Z': opt.dev_zero = 1; break;
		case 'p': opt.policy = 1; break;
		case 'a': opt.affinity = 1; break;
		case 'f': opt.fifo = 1; break;
		case 'F': break;
		case 's': opt.sleep_seconds = number(optarg, "-s", 0, 86400); break;
		case 'N': opt.numa_maps = 1; break;
		case 'P': opt.pause_at_end = 1; break;
		case 'T': opt.title = 1; break;
		case 'v': opt.verbose = 1; break;
		case 'V': puts(VERSION); exit(0);
		case 'h': usage(stdout); exit(0);
		case 1: read_bounds(optarg); break;
		case 2: opt.thp = 1; break;
		default: usage(stderr); exit(2);
		}
	}
	if (optind < argc)
		opt.tag = argv[optind++];
	if (optind < argc)
		die("more than one tag: %s", argv[optind]);
	if (opt.shm_lock && !opt.sysv)
		die("-L locks SysV shared memory: give -S too");
}

static void fit_workers(void)
{
	int most;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		die("sched_getaffinity: %s", strerror(errno));
	most = CPU_COUNT(&allowed) < MAX_WORKERS ? CPU_COUNT(&allowed) : MAX_WORKERS;
	if (opt.workers <= most)
		return;
	warn("%d workers asked for, %d started: one per allowed CPU, %d at most", opt.workers, most, MAX_WORKERS);
	opt.workers = most;
}

int main(int argc, char **argv)
{
	size_t step;

	page_size = sysconf(_SC_PAGESIZE);
	opt.bytes = page_size;
	read_options(argc, argv);
	fit_workers();
	step = page_size * opt.workers;
	opt.bytes = (opt.bytes + step - 1) / step * step;
	slice = opt.bytes / opt.workers;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("no memory: %s", strerror(errno));
	/* Faulted in beforehand: a worker's first store must not be a fault of ours. */
	memset(shared, 0, sizeof(*shared));
	make_memory();
	run_workers();
	print_result();
	if (opt.bounds)
		print_histogram();
	if (opt.numa_maps)
		print_numa_maps();
	fflush(stdout);
	if (opt.pause_at_end)
		pause();
	return 0;
}
