/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contest-load: what contest runs beside a compile, and the clock around the compile.
 *
 *   contest-load time SECONDS COMMAND…     runs COMMAND, prints its times; kills it (and says so) after SECONDS
 *   contest-load process N                 N processes in a ring of pipes, each passing on a block
 *   contest-load io FILE BYTES             rewrites FILE from start to end again and again
 *   contest-load mem BYTES                 writes to all of BYTES of memory again and again
 *   contest-load read FILE                 reads FILE again and again
 *   contest-load list DIR                  lists DIR and all below it again and again, long format
 *
 * A load runs until SIGTERM; then it prints `elapsed: E user: U system: S loads: L`, L being rounds with the share of the
 * one that was cut, for list thousands of entries.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 65536

static volatile sig_atomic_t stop;
static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static void die(const char *what)
{
	fprintf(stderr, "contest-load: %s: %s\n", what, strerror(errno));
	exit(2);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

static void report(double begin, double loads)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	printf("elapsed: %.3f user: %.3f system: %.3f", now() - begin, seconds(self.ru_utime) + seconds(children.ru_utime),
	       seconds(self.ru_stime) + seconds(children.ru_stime));
	if (loads >= 0)
		printf(" loads: %.3f", loads);
	putchar('\n');
	fflush(stdout);
}

static int timed(double limit, char **command)
{
	double begin = now();
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		setpgid(0, 0);
		execvp(command[0], command);
		die(command[0]);
	}
	setpgid(pid, pid);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (stop || now() - begin > limit) {
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			printf("timeout: %.0f\n", limit);
			return 124;
		}
		usleep(2000);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		printf("failed: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		return 1;
	}
	report(begin, -1);
	return 0;
}

/* A block goes round the ring; a round is one load. The ring's processes end with the pipe. */
static double process_load(int n)
{
	static char block[4096];
	int first[2], in, last[2];
	double rounds = 0;

	if (n < 1 || n > 4096 || pipe(first))
		die("process");
	in = first[0];
	for (int i = 0; i < n; i++) {
		pid_t pid;

		if (pipe(last))
			die("pipe");
		pid = fork();
		if (pid < 0)
			die("fork");
		if (pid == 0) {
			signal(SIGTERM, SIG_IGN);
			close(first[1]);
			close(last[0]);
			while (read(in, block, sizeof(block)) > 0)
				if (write(last[1], block, sizeof(block)) < 0)
					break;
			_exit(0);
		}
		close(in);
		close(last[1]);
		in = last[0];
	}
	while (!stop && write(first[1], block, sizeof(block)) == sizeof(block)) {
		size_t got = 0;

		while (got < sizeof(block)) {
			ssize_t k = read(in, block, sizeof(block) - got);

			if (k <= 0)
				break;
			got += k;
		}
		if (got < sizeof(block))
			break;
		rounds++;
	}
	close(first[1]);
	while (wait(NULL) > 0)
		;
	return rounds;
}

static double io_load(const char *file, double bytes)
{
	static char block[BLOCK];
	double done = 0;
	int fd = open(file, O_WRONLY | O_CREAT, 0600);

	if (fd < 0)
		die(file);
	memset(block, 'k', sizeof(block));
	while (!stop) {
		double at = 0;

		if (lseek(fd, 0, SEEK_SET) < 0)
			die(file);
		while (!stop && at < bytes) {
			ssize_t k = write(fd, block, sizeof(block));

			if (k < 0 && errno != EINTR)
				die(file);
			if (k > 0)
				at += k;
		}
		done += at;
	}
	unlink(file);
	return done / bytes;
}

static double mem_load(double bytes)
{
	size_t size = bytes, page = 4096;
	double touched = 0;
	volatile char *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (area == MAP_FAILED)
		die("mem");
	while (!stop)
		for (size_t at = 0; at < size && !stop; at += page, touched++)
			area[at]++;
	return touched * page / bytes;
}

static double read_load(const char *file)
{
	static char block[BLOCK];
	struct stat st;
	double done = 0;
	int fd = open(file, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) || st.st_size == 0)
		die(file);
	while (!stop) {
		ssize_t k = read(fd, block, sizeof(block));

		if (k > 0)
			done += k;
		else if (k == 0)
			lseek(fd, 0, SEEK_SET);
		else if (errno != EINTR)
			die(file);
	}
	return done / st.st_size;
}

static FILE *nowhere;
static double listed;
static int list_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	listed++;
	fprintf(nowhere, "%d %o %ld %ld %s\n", type, st->st_mode, (long)st->st_nlink, (long)st->st_size, path);
	return stop;
}

static double list_load(const char *dir)
{
	nowhere = fopen("/dev/null", "w");
	while (!stop)
		nftw(dir, list_one, 64, FTW_PHYS | FTW_MOUNT);
	return listed / 1000;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_term };
	const char *what = argc > 1 ? argv[1] : "";
	double begin = now(), loads;

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (!strcmp(what, "time") && argc > 3)
		return timed(atof(argv[2]), argv + 3);
	if (!strcmp(what, "process") && argc == 3)
		loads = process_load(atoi(argv[2]));
	else if (!strcmp(what, "io") && argc == 4 && atof(argv[3]) > 0)
		loads = io_load(argv[2], atof(argv[3]));
	else if (!strcmp(what, "mem") && argc == 3 && atof(argv[2]) > 0)
		loads = mem_load(atof(argv[2]));
	else if (!strcmp(what, "read") && argc == 3)
		loads = read_load(argv[2]);
	else if (!strcmp(what, "list") && argc == 3)
		loads = list_load(argv[2]);
	else {
		fprintf(stderr, "contest-load: time SECONDS COMMAND… | process N | io FILE BYTES | mem BYTES | read FILE | list DIR\n");
		return 2;
	}
	report(begin, loads);
	return 0;
}
