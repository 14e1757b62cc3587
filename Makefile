# The commands: run, test, check, build, release, bench. Bun is installed in .bun/ if the machine has none that is new
# enough.
BUN_VERSION := 1.4.5
BUN := $(shell scripts/bun-path $(BUN_VERSION))
ifeq ($(BUN),)
$(error Bun $(BUN_VERSION) is not here and cannot be fetched; see the lines above)
endif
export PATH := $(dir $(BUN)):$(PATH)
export ONNXRUNTIME_NODE_INSTALL := skip
# Disables the telemetry of ONNX Runtime also in the processes of tests and benches, which load ONNX Runtime too.
export ORT_DISABLE_TELEMETRY := 1

.PHONY: run test check build release bench install source
.PHONY: test-web test-engine test-web-then-engine test-workers test-source test-program

run: install
	$(BUN) --no-env-file src/main.ts serve

# The timeout of one test, in milliseconds. It ends a test that hangs, and is long enough for a test on a busy machine.
TEST_MS := 60000

# PRIORITY is the nice value of the tests: a lower number is a higher priority. The tests wait for engines, which have a
# nice value of 10 or more. So most tests have 10 too: with a lower number, they would take the cores from the engines.
PRIORITY := 10
# Under the scheduling policy `batch`, a process that wakes up does not interrupt another one. Fewer interruptions keep
# the caches of the cores filled: this saves about 5 % of all CPU time. BATCH is empty if `chrt` is missing or not
# allowed.
BATCH := $(shell chrt -b 0 true 2>/dev/null && echo chrt -b 0)
# The command that runs test files.
# MIMALLOC_PURGE_DELAY=-1 keeps freed memory in the process. To give it back to the system, and to get it again, would
# cost 4 % of all CPU time.
# BUN_JSC_largeHeapSize and BUN_GC_TIMER_DISABLE let JavaScript collect garbage rarely. This saves 3 % of all CPU time,
# and costs 150 MB of memory in each process.
# test/support/own-environment.ts removes these variables from the environment of the programs that the tests start.
# --no-isolate: the test files of a process share its modules, because to load the modules again for each file would
# take a quarter of all CPU time. So a test file must undo what it changes in its process.
# --timings: Bun starts with the slowest test files. `bun test --timings test/timings.json --update-timings` measures
# the times again.
MEMORY := MIMALLOC_PURGE_DELAY=-1 BUN_JSC_largeHeapSize=300000000 BUN_GC_TIMER_DISABLE=1
RUN_TESTS = $(MEMORY) $(BATCH) nice -n $(PRIORITY) $(BUN) test --no-isolate \
	--timings test/timings.json --timeout $(TEST_MS)

# Tests of the program from outside, with servers and callers in processes of their own. `make test` runs these tests
# with the built program only, as its users run it. `bun test FILE` runs one of them with the source.
PROGRAM_TESTS := 'test/program/**' test/docs.test.ts test/api/known-voices.test.ts \
	test/api/oauth-log.test.ts test/api/resumable-kill.test.ts test/api/clients.test.ts

# The test folders that have a target of their own.
OWN_TARGETS := 'test/web/**' 'test/engine/**' 'test/media/**' 'test/workers/**'

# Checks the source, and at the same time builds the program and compiles the source for the tests. Then runs all tests.
test: SHELL := bash
# `cat` gives each call of make below a pipe of its own for the output. A program may make its standard output
# non-blocking, as the unpacking of the browser does. Without `cat`, the program and `make test` would share one output,
# which would then be non-blocking for make too. make would fail with "write error" if the output is full for a moment.
test: install
	set -o pipefail; $(MAKE) -j2 check build source 2>&1 | cat
# Up to four targets run at the same time, and each one runs two test files at a time: eight files in all. Many tests
# wait more than they compute, so this keeps two cores busy until the end. More processes take the caches of the cores
# from each other, and need more CPU time.
	set -o pipefail; $(MAKE) -j4 --output-sync test-web-then-engine test-workers test-source test-program 2>&1 | cat

# The tests of the engine begin only after the tests of the web app. So the tests of the web app have the highest
# priority (the lowest nice value). They wait for most of their time, and the other tests use this time. They run in two
# processes only, because each process starts a browser.
test-web: PRIORITY := 7
test-web:
	$(RUN_TESTS) --parallel=2 ./test/web

test-engine:
	$(RUN_TESTS) --parallel=2 test/engine test/media

# First runs the tests of the web app. They mostly wait, and the other targets of the tests use the cores at the same
# time. Then runs the tests of the engine and of media. They need the most CPU time, so they keep the cores busy until
# the end of all tests. Without this order, the cores are idle for an eighth of the time. The tests of the engine also
# run if a test of the web app has failed.
test-web-then-engine:
	$(MAKE) test-web; status=$$?; $(MAKE) test-engine && exit $$status

test-workers:
	$(RUN_TESTS) --parallel=2 test/workers

# Runs the tests of the source that no other target runs. The command begins with `+`, so that make shows its output at
# once and the user sees that the tests go on. make shows the output of the other targets only when they have ended.
# `cat` gives the tests a pipe of their own, because a test may make its standard output non-blocking, and make would
# then fail.
test-source: SHELL := bash
# BUN_JSC_useFTLJIT=0 turns off the last optimising compiler of JavaScript. The tests run each piece of code for a short
# time, and need 4 % less CPU time without it. test/support/own-environment.ts removes this variable from the
# environment of the programs that the tests start.
test-source:
	+set -o pipefail; BUN_JSC_useFTLJIT=0 $(RUN_TESTS) --parallel=2 $(addprefix --path-ignore-patterns ,$(OWN_TARGETS) $(PROGRAM_TESTS)) 2>&1 | cat

# Runs the tests of the program, and the tests of the API against the program. These tests take less time than the tests
# of the source. So they have the lowest priority of all tests (nice value 14), and leave more CPU time to the tests of
# the source. Both then end at about the same time.
test-program: PRIORITY := 14
test-program:
	STENO_TEST_PROGRAM=dist/steno $(RUN_TESTS) --parallel=2 test/program test/api test/docs.test.ts

# With one thread, the compiler needs a third less CPU time than with several threads. On two cores, it does not take
# longer. It needs only 0.5 GB of memory, so GOGC lets it collect garbage rarely.
check: install
	GOGC=400 $(BUN) node_modules/typescript-native/bin/tsc --singleThreaded
	GOGC=400 $(BUN) node_modules/typescript-native/bin/tsc --singleThreaded -p src/web
	$(BUN) node_modules/.bin/biome check .

# Compiles the source for the tests that start steno as a separate process, and unpacks the browser for the tests of the
# web app.
source: install
	$(BUN) test/support/built-source.ts
	$(BUN) test/support/find-browser.ts

# Builds dist/steno for this machine. `make build TARGET=linux-arm64` builds it for another machine.
build: install
	$(BUN) scripts/build.ts $(if $(TARGET),--target $(TARGET))

# STENO_SIGNING_KEY names the private key; docs/releases.md says how to make one.
release: install
	$(BUN) scripts/release.ts

bench: install
	$(BUN) scripts/bench/run.ts --docs docs

install: node_modules/.installed

node_modules/.installed: package.json bun.lock
	$(BUN) install --frozen-lockfile
	@touch $@
