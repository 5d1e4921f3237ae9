/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapanon: replays a stream of page references on a mapping and times each one.
 *
 *   mapanon generate PATTERN REFERENCES RANGE [SEED]     a reference file on stdout
 *   mapanon shuffle SEED <file                           the same references in another order
 *   mapanon replay [options] FILE PREFIX                 replays FILE; data in PREFIX-*.data, figures on stdout
 *
 * A reference file is `range references` and then one page index per line. Patterns: linear, random, zipf, smooth_sin;
 * `smooth_sin-random` is smooth_sin shuffled. The sine is VM Regress's: 1.5 periods over the range, its amplitude
 * doubled until it gives more than half of the references, the rest dealt out one page after the other.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_PAGES (1u << 28)
#define MAX_REFERENCES (1u << 28)

static void die(const char *what, const char *why)
{
	fprintf(stderr, "mapanon: %s: %s\n", what, why);
	exit(2);
}

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		die("memory", strerror(errno));
	return p;
}

static uint32_t number(const char *text, const char *what, uint32_t max)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || end == text || *end || v > max)
		die(what, "not a whole number in range");
	return v;
}

/* splitmix64 (Steele, Lea, Flood 2014): one 64-bit seed, the same sequence everywhere. */
static uint64_t seed;
static uint64_t next_random(void)
{
	uint64_t z = (seed += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Unbiased number below n (Lemire 2019, by rejection). */
static uint32_t random_below(uint32_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, r;

	do
		r = next_random();
	while (r >= limit);
	return r % n;
}

static void shuffle(uint32_t *refs, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = random_below(i), t = refs[i - 1];

		refs[i - 1] = refs[j];
		refs[j] = t;
	}
}

static void smooth_sin(uint32_t *refs, uint32_t n_refs, uint32_t range)
{
	const double pi = 3.14159265358979;
	double *v = allocate(range, sizeof(*v));
	double step = 1;
	uint64_t count;
	uint32_t at = 0;

	do {
		count = 0;
		for (uint32_t i = 0; i < range; i++) {
			v[i] = step + sin(i / (range / (pi * 6 / 2))) * step;
			count += (uint64_t)v[i];
		}
		step *= 2;
	} while (count <= n_refs / 2);
	for (uint32_t i = 0; count < n_refs; count++, i = (i + 1) % range)
		v[i] += 1;
	/* On tiny ranges the sine alone may give more than was asked for: cut there. */
	for (uint32_t i = 0; i < range; i++)
		for (uint32_t k = (uint32_t)v[i]; k > 0 && at < n_refs; k--)
			refs[at++] = i;
	free(v);
}

/* Zipf with exponent 1: rank r is drawn with weight 1/r; ranks are pages in a shuffled order, so heat isn't address. */
static void zipf(uint32_t *refs, uint32_t n_refs, uint32_t range)
{
	double *sum = allocate(range, sizeof(*sum)), total = 0;
	uint32_t *page = allocate(range, sizeof(*page));

	for (uint32_t i = 0; i < range; i++) {
		sum[i] = total += 1.0 / (i + 1);
		page[i] = i;
	}
	shuffle(page, range);
	for (uint32_t i = 0; i < n_refs; i++) {
		double u = (next_random() >> 11) * 0x1p-53 * total;
		uint32_t lo = 0, hi = range - 1;

		while (lo < hi) {
			uint32_t mid = (lo + hi) / 2;

			if (sum[mid] > u)
				hi = mid;
			else
				lo = mid + 1;
		}
		refs[i] = page[lo];
	}
	free(sum);
	free(page);
}

static void print_references(const uint32_t *refs, uint32_t n_refs, uint32_t range)
{
	printf("%u %u\n", range, n_refs);
	for (uint32_t i = 0; i < n_refs; i++)
		printf("%u\n", refs[i]);
	if (fflush(stdout) || ferror(stdout))
		die("writing the references", strerror(errno));
}

static int generate(int argc, char **argv)
{
	uint32_t n_refs, range, *refs;
	const char *pattern;

	if (argc < 3)
		die("generate", "wants PATTERN REFERENCES RANGE [SEED]");
	pattern = argv[0];
	n_refs = number(argv[1], "references", MAX_REFERENCES);
	range = number(argv[2], "range", MAX_PAGES);
	seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	if (range == 0)
		die("range", "must be at least one page");
	refs = allocate(n_refs, sizeof(*refs));
	if (!strcmp(pattern, "linear"))
		for (uint32_t i = 0; i < n_refs; i++)
			refs[i] = i % range;
	else if (!strcmp(pattern, "random"))
		for (uint32_t i = 0; i < n_refs; i++)
			refs[i] = random_below(range);
	else if (!strcmp(pattern, "zipf"))
		zipf(refs, n_refs, range);
	else if (!strcmp(pattern, "smooth_sin") || !strcmp(pattern, "smooth_sin-random")) {
		smooth_sin(refs, n_refs, range);
		if (pattern[10])
			shuffle(refs, n_refs);
	} else
		die(pattern, "unknown pattern; there are linear, random, zipf, smooth_sin, smooth_sin-random");
	print_references(refs, n_refs, range);
	return 0;
}

/* Reads a reference file; names the line of what is wrong. */
static uint32_t *read_references(FILE *in, const char *name, uint32_t *n_refs, uint32_t *range)
{
	char line[64], why[96];
	uint32_t *refs, n = 0;

	if (!fgets(line, sizeof(line), in) || sscanf(line, "%" SCNu32 " %" SCNu32, range, n_refs) != 2)
		die(name, "line 1 isn't `range references`");
	if (*range == 0 || *range > MAX_PAGES || *n_refs > MAX_REFERENCES)
		die(name, "line 1: range or references out of bounds");
	refs = allocate(*n_refs, sizeof(*refs));
	while (fgets(line, sizeof(line), in)) {
		char *end;
		unsigned long v = strtoul(line, &end, 10);

		if (end == line || (*end != '\n' && *end) || v >= *range || n == *n_refs) {
			snprintf(why, sizeof(why), "line %u: %s", n + 2,
				 n == *n_refs ? "more references than line 1 says" : "not a page below the range");
			die(name, why);
		}
		refs[n++] = v;
	}
	if (n != *n_refs)
		die(name, "cut short: fewer references than line 1 says");
	return refs;
}

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static FILE *open_data(const char *prefix, const char *kind)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s-%s.data", prefix, kind);
	f = fopen(path, "w");
	if (!f)
		die(path, strerror(errno));
	return f;
}

static void close_data(FILE *f, const char *kind)
{
	if (ferror(f) | fclose(f))
		die(kind, "could not be written: disk full?");
}

static int by_time(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

struct page {
	uint32_t index, score;
	unsigned char present;
};

static int by_score(const void *a, const void *b)
{
	const struct page *x = a, *y = b;

	return x->score != y->score ? (x->score < y->score) - (x->score > y->score) : (x->index > y->index) - (x->index < y->index);
}

/* Of the P pages present, the share that is among the P with the highest score: 1 = the kernel kept the right ones. */
static double retention(const uint32_t *score, const unsigned char *present, uint32_t range, uint32_t n_present)
{
	struct page *pages = allocate(range, sizeof(*pages));
	uint32_t kept = 0;

	for (uint32_t i = 0; i < range; i++)
		pages[i] = (struct page){ i, score[i], present[i] };
	qsort(pages, range, sizeof(*pages), by_score);
	for (uint32_t i = 0; i < n_present; i++)
		kept += pages[i].present;
	free(pages);
	return n_present ? (double)kept / n_present : 0;
}

/* One character per 4 pages, 0x30 plus a bit per page present, lowest first. */
static void print_map(const unsigned char *present, uint32_t range, long page_size, const char *start)
{
	uint32_t n_present = 0;

	printf("# BEGIN PAGE MAP %p - %p\n# ", (const void *)start, (const void *)(start + (size_t)range * page_size));
	for (uint32_t i = 0; i < range; i += 4) {
		int bits = 0;

		for (uint32_t k = 0; k < 4 && i + k < range; k++) {
			bits |= present[i + k] << k;
			n_present += present[i + k];
		}
		putchar(0x30 | bits);
		if (i % 256 == 252 && i + 4 < range)
			printf("\n# ");
	}
	printf("\n# END PAGE MAP - %u pages of %u present\n", n_present, range);
}

/* Pages in a stripe of a mixed mapping. */
#define STRIPE 64

/*
 * Whether a page lies in the file: all of them, none, or two of three stripes of a mixed mapping. So the anonymous third
 * fits in half of the mapping, and the kernel may choose what it takes away.
 */
static int in_file(const char *backing, int mixed, uint32_t page)
{
	return backing && (!mixed || page / STRIPE % 3 != 0);
}

/* The mapping that is played on: anonymous, of the file `backing`, or by stripes of both. */
static char *map_area(const char *backing, int mixed, size_t range, size_t page_size)
{
	char *area = MAP_FAILED;
	struct stat st;
	int fd = -1;

	if (backing) {
		fd = open(backing, O_RDWR | O_CREAT, 0600);
		if (fd < 0 || fstat(fd, &st) ||
		    ((size_t)st.st_size < range * page_size && ftruncate(fd, (off_t)(range * page_size))))
			die(backing, strerror(errno));
	}
	if (backing && !mixed)
		area = mmap(NULL, range * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	else
		area = mmap(NULL, range * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		die("mmap", strerror(errno));
	for (size_t i = 0; mixed && i < range; i += STRIPE) {
		size_t pages = range - i < STRIPE ? range - i : STRIPE;

		if (in_file(backing, mixed, i) &&
		    mmap(area + i * page_size, pages * page_size, PROT_READ, MAP_SHARED | MAP_FIXED, fd, (off_t)(i * page_size)) == MAP_FAILED)
			die("mmap of a stripe", strerror(errno));
	}
	/* Huge pages and readahead would bring in pages that were never asked for. */
	if (!backing || mixed)
		madvise(area, range * page_size, MADV_NOHUGEPAGE);
	if (backing) {
		madvise(area, range * page_size, MADV_RANDOM);
		close(fd);
	}
	return area;
}

static const struct option options[] = {
	{ "read", no_argument, NULL, 'r' },	{ "write", no_argument, NULL, 'w' },
	{ "file", required_argument, NULL, 'f' }, { "touch", no_argument, NULL, 't' },
	{ "mixed", required_argument, NULL, 'x' }, { "no-times", no_argument, NULL, 'n' },
	{ "map", no_argument, NULL, 'm' },
	{ 0 },
};

static int replay(int argc, char **argv)
{
	int write_op = 1, touch = 0, times = 1, map = 0, mixed = 0, c, fd;
	const char *backing = NULL, *name, *prefix;
	uint32_t n_refs, range, *refs, *ns, *count, *last;
	unsigned char *present, *swapped;
	long page_size = sysconf(_SC_PAGESIZE);
	uint32_t n_present = 0, n_swapped = 0, n_touched = 0, n_file_touched = 0, n_file_present = 0, over = 0;
	uint64_t begin, end, unmap, total = 0;
	struct rusage before, after;
	volatile char *area;
	char sink = 0;
	FILE *in, *out;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case 'r': write_op = 0; break;
		case 'w': write_op = 1; break;
		case 'f': backing = optarg; break;
		case 'x': backing = optarg; mixed = 1; break;
		case 't': touch = 1; break;
		case 'n': times = 0; break;
		case 'm': map = 1; break;
		default: die("replay", "[--read|--write] [--file PATH|--mixed PATH] [--touch] [--no-times] [--map] FILE PREFIX");
		}
	if (argc - optind != 2)
		die("replay", "wants FILE and PREFIX");
	name = argv[optind];
	prefix = argv[optind + 1];
	in = strcmp(name, "-") ? fopen(name, "r") : stdin;
	if (!in)
		die(name, strerror(errno));
	refs = read_references(in, name, &n_refs, &range);

	/* Filled and locked before the clock starts, so that noting a time faults nothing in. */
	ns = allocate(n_refs, sizeof(*ns));
	memset(ns, 1, (size_t)n_refs * sizeof(*ns));
	if (mlock(ns, (size_t)n_refs * sizeof(*ns)) || mlock(refs, (size_t)n_refs * sizeof(*refs)))
		printf("# times and references could not be locked in memory: %s\n", strerror(errno));
	count = allocate(range, sizeof(*count));
	last = allocate(range, sizeof(*last));
	present = allocate(range, 1);
	swapped = allocate(range, 1);

	area = map_area(backing, mixed, range, page_size);
	for (uint32_t i = 0; touch && i < range; i++) {
		if (mixed && in_file(backing, mixed, i))
			sink += area[(size_t)i * page_size];
		else
			area[(size_t)i * page_size] = 1;
	}

	getrusage(RUSAGE_SELF, &before);
	begin = now_ns();
	for (uint32_t i = 0; i < n_refs; i++) {
		volatile char *at = area + (size_t)refs[i] * page_size;
		/* The file of a mixed mapping is only read, as a program's text and data are. */
		int writes = write_op && !(mixed && in_file(backing, mixed, refs[i]));
		uint64_t t0 = now_ns(), dt;

		if (writes)
			*at = (char)i;
		else
			sink += *at;
		dt = now_ns() - t0;
		ns[i] = dt > UINT32_MAX ? UINT32_MAX : dt;
	}
	end = now_ns();
	getrusage(RUSAGE_SELF, &after);

	for (uint32_t i = 0; i < n_refs; i++) {
		count[refs[i]]++;
		last[refs[i]] = i + 1;
	}
	fd = open("/proc/self/pagemap", O_RDONLY);
	if (fd < 0)
		die("/proc/self/pagemap", strerror(errno));
	for (uint32_t i = 0; i < range; i++) {
		uint64_t entry;

		if (pread(fd, &entry, 8, ((uintptr_t)area / page_size + i) * 8) != 8)
			die("/proc/self/pagemap", strerror(errno));
		present[i] = entry >> 63 & 1;
		swapped[i] = entry >> 62 & 1;
		n_present += present[i];
		n_swapped += swapped[i];
		n_touched += touch || count[i] > 0;
		n_file_present += in_file(backing, mixed, i) && present[i];
		n_file_touched += in_file(backing, mixed, i) && (touch || count[i] > 0);
	}
	close(fd);
	if (map)
		print_map(present, range, page_size, (const char *)area);

	if (times) {
		out = open_data(prefix, "time");
		for (uint32_t i = 0; i < n_refs; i++)
			fprintf(out, "%u %.3f\n", i, ns[i] / 1e3);
		close_data(out, "time");
	}
	out = open_data(prefix, "refcount");
	for (uint32_t i = 0; i < range; i++)
		fprintf(out, "%u %u\n", i, count[i]);
	close_data(out, "refcount");
	out = open_data(prefix, "pagemap");
	for (uint32_t i = 0; i < range; i++)
		fprintf(out, "%u %u %u\n", i, present[i], swapped[i]);
	close_data(out, "pagemap");
	/* Age: references since this page's own last one; untouched pages are as old as the run. */
	out = open_data(prefix, "age");
	for (uint32_t i = 0; i < range; i++)
		fprintf(out, "%u %u\n", i, n_refs - last[i]);
	close_data(out, "age");

	unmap = now_ns();
	munmap((void *)area, (size_t)range * page_size);
	unmap = now_ns() - unmap;

	for (uint32_t i = 0; i < n_refs; i++) {
		total += ns[i];
		over += ns[i] > 1000000;
	}
	printf("# %u references to %u pages, %s, %s%s\n", n_refs, range, write_op ? "write" : "read",
	       mixed ? "mixed" : backing ? "file" : "anonymous", sink == 127 ? "" : ".");
	printf("retention_refcount: %.6f\n", retention(count, present, range, n_present));
	printf("retention_age: %.6f\n", retention(last, present, range, n_present));
	qsort(ns, n_refs, sizeof(*ns), by_time);
	printf("duration: %.6f s\n", (end - begin) / 1e9);
	if (n_refs) {
		printf("access_min: %.3f us\n", ns[0] / 1e3);
		printf("access_avg: %.3f us\n", total / 1e3 / n_refs);
		printf("access_p99: %.3f us\n", ns[(uint64_t)(n_refs - 1) * 99 / 100] / 1e3);
		printf("access_max: %.3f us\n", ns[n_refs - 1] / 1e3);
	}
	printf("accesses_over_1ms: %u\n", over);
	printf("major_faults: %ld\n", after.ru_majflt - before.ru_majflt);
	printf("minor_faults: %ld\n", after.ru_minflt - before.ru_minflt);
	printf("pages_touched: %u\n", n_touched);
	printf("present: %u\n", n_present);
	printf("swapped: %u\n", n_swapped);
	if (backing) {
		printf("file_touched: %u\n", n_file_touched);
		printf("file_present: %u\n", n_file_present);
	}
	if (n_touched > n_file_touched)
		printf("swapped_share: %.6f\n", (double)n_swapped / (n_touched - n_file_touched));
	printf("munmap: %.3f us\n", unmap / 1e3);
	printf("mapanon: complete\n");
	return fflush(stdout) ? 2 : 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "generate"))
		return generate(argc - 2, argv + 2);
	if (argc > 2 && !strcmp(argv[1], "shuffle")) {
		uint32_t n_refs, range, *refs = read_references(stdin, "standard input", &n_refs, &range);

		seed = strtoull(argv[2], NULL, 10);
		shuffle(refs, n_refs);
		print_references(refs, n_refs, range);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "replay"))
		return replay(argc - 1, argv + 1);
	die("usage", "mapanon generate|shuffle|replay …");
	return 2;
}
