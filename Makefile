# run, test, check, build, release, bench: nothing else. Bun is fetched here when the machine has none.
BUN_VERSION := 1.4.5
BUN := $(shell scripts/bun-path $(BUN_VERSION))
ifeq ($(BUN),)
$(error Bun $(BUN_VERSION) is not here and cannot be fetched; see the lines above)
endif
export PATH := $(dir $(BUN)):$(PATH)
export ONNXRUNTIME_NODE_INSTALL := skip
# Tests and benches load ONNX Runtime into their own process too.
export ORT_DISABLE_TELEMETRY := 1

.PHONY: run test check build release bench install source

run: install
	$(BUN) src/main.ts serve

# The longest time of one test. A test that hangs fails after it; a test on a busy machine does not.
TEST_MS := 60000

# Many tests wait more than they compute: five files at a time fill two cores, the slowest files first.
# The files of a process share its modules: to load them again for each file takes a quarter of all CPU time. So a test
# file must undo what it changes in its process.
# `bun test --timings test/timings.json --update-timings` measures the files again.
# An engine has the priority 10. At a higher priority, the tests would take the cores from the engines they wait for.
RUN_TESTS := nice -n 10 $(BUN) test --parallel=5 --no-isolate --timings test/timings.json --timeout $(TEST_MS)

# Tests of the program from outside, with servers and callers in processes of their own. They are run with the built
# program only, as its users run it. `bun test FILE` runs one of them with the source.
PROGRAM_TESTS := 'test/program/**' test/docs.test.ts test/api/known-voices.test.ts \
	test/api/oauth-log.test.ts test/api/resumable-kill.test.ts test/api/clients.test.ts

# Checks the source while it is compiled. Tests the source first, then the program: alone, and under the tests of the
# API.
test: install
	$(MAKE) -j2 check build source
	$(RUN_TESTS) $(addprefix --path-ignore-patterns ,$(PROGRAM_TESTS))
	STENO_TEST_PROGRAM=dist/steno $(RUN_TESTS) test/program test/api test/docs.test.ts

# On two cores, the compiler takes as long with one thread as with several, and a third less CPU time. It needs 0.5 GB, so
# it collects garbage rarely (GOGC).
check: install
	GOGC=400 $(BUN) node_modules/typescript-native/bin/tsc --singleThreaded
	GOGC=400 $(BUN) node_modules/typescript-native/bin/tsc --singleThreaded -p src/web
	node_modules/.bin/biome check .

# Compiles the source for the tests that start it in processes of its own, and unpacks the browser for the tests of the
# web app.
source: install
	$(BUN) test/support/built-source.ts
	$(BUN) test/support/find-browser.ts

# make build TARGET=linux-arm64 builds for another machine.
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
