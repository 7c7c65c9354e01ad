# Everything that is done with this repository, by purpose. Go, bash and
# curl are needed, strace for traced; tools are built from tools/go.mod into .cache/bin.

SHELL     := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

TESTFLAGS ?=
TIMEOUT   ?= 20m
# Packages tested at once: most of them wait for clusters half of their time.
PACKAGES  ?= 3
FUZZTIME  ?= 20s
JOBS      ?= 1
TARGET    ?= .
BENCH     ?= .
BENCHTIME ?= 1s
SHORT     ?=
REV       ?=
FULL      ?=
PARTS     ?=
PREFIX    ?= /usr/local
NODES     ?= 3
MISTAKE   ?=
SCENARIO  ?= .
DURATION  ?= 30m
SEED      ?=
KEEP      ?=

# Modules of their own, each with its dependencies.
adapters := $(patsubst %/go.mod,%,$(wildcard adapters/*/go.mod))
modules  := $(adapters) bench

tools := .cache/bin
# A build that makes a mistake on purpose: internal/planted names them.
ifeq ($(MISTAKE),)
bin  := bin
tags :=
else
bin  := bin/mistaken
tags := -tags tidemark_mutants
endif
cluster := CLUSTER_BIN=$(CURDIR)/$(bin) $(if $(MISTAKE),TIDEMARK_MISTAKE=$(MISTAKE))

.PHONY: help
help: ## show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

.PHONY: build
build: ## build tidemarkd, tidemark and the programs of the proofs into bin/
	@mkdir -p $(bin)
	@echo "building into $(bin)/; the first time this takes a minute" >&2
	@go build $(tags) -o $(bin)/tidemarkd ./cmd/node
	@go build -o $(bin)/tidemark ./cmd/tidemark
	@go build -o $(bin)/ ./cluster-test/...

.PHONY: jar
jar: ## build the jars for RocketMQ's consumers and brokers into bin/ (a JDK and Maven are needed)
	@mkdir -p bin
	@java/mvn.sh -DskipTests package
	@cp java/consumer/target/tidemark-consumer-*-all.jar bin/tidemark-rocketmq-consumer.jar
	@cp java/broker/target/tidemark-broker-*-all.jar bin/tidemark-rocketmq-broker.jar

.PHONY: mutants
mutants: ## make known mistakes on purpose, one after another, and show which general check finds each (MISTAKE=name for one)
	@go run ./cluster-test/mutants $(MISTAKE)

.PHONY: mutants-broker
mutants-broker: ## show that the proofs against RocketMQ's brokers find known mistakes in the jar, one after another
	@rm -rf .cache/mutants && mkdir -p .cache/mutants && git ls-files java | tar -c -T - | tar -x -C .cache/mutants
	@cp -r .cache/mutants/java/broker/src/planted/java .cache/mutants/java/broker/src/main/
	@.cache/mutants/java/mvn.sh -DskipTests -Dplanted.excluded=none -pl broker -am package
	@TIDEMARK_MUTANT_JAR=$$(ls $(CURDIR)/.cache/mutants/java/broker/target/tidemark-broker-*-all.jar) \
		go test -count 1 -timeout 2h -v -run TestBrokerMistakes $(TESTFLAGS) ./interop

.PHONY: run
run: build ## run a cluster of three nodes until Ctrl-C (NODES=5 for five, CLUSTER_PORT=8411 for other ports)
	@$(cluster) cluster-test/cluster.sh run $(NODES)

.PHONY: demo
demo: build ## the main proof: commits through kills and restarts, then a reckoning (MISTAKE=early-ack must fail)
	@$(cluster) cluster-test/cluster.sh story

.PHONY: traced
traced: build ## show an fdatasync on a quorum before sampled acknowledgements (MISTAKE=no-sync must fail)
	@$(cluster) cluster-test/traced.sh

.PHONY: failover
failover: build ## kill the leader twenty times under load (BY=transfer: have it hand over), and measure the gaps
	@$(cluster) cluster-test/failover.sh

.PHONY: stability
stability: ## stalled syncs, a saturated disk, saturated processors, and 100 kills of the leader under full load on each log store, about 45 minutes
	@SOAK=1 go test -count 1 -timeout 3h -v $(TESTFLAGS) ./cluster-test/stability

.PHONY: test
test: lint ## lint, then all tests under the race detector, those of tools, the adapters, bench and java/ included
	@! command -v mvn >/dev/null || $(MAKE) --no-print-directory jar # for interop, which skips without Maven
	@go test -race -p $(PACKAGES) -timeout $(TIMEOUT) $(TESTFLAGS) ./...
	@go -C tools test $(TESTFLAGS) ./...
	@$(MAKE) --no-print-directory --jobs 3 $(if $(filter output-sync,$(.FEATURES)),--output-sync) test-adapters test-bench test-java

.PHONY: test-java
test-java: build ## build java/ and run its tests against the nodes in bin/ (a JDK and Maven are needed)
	@java/test.sh

.PHONY: test-interop
test-interop: jar ## the proofs against RocketMQ's brokers and consumers, whole, which takes hours (make test has their short form)
	@SOAK=1 go test -count 1 -timeout 12h -v $(TESTFLAGS) ./interop/...

.PHONY: test-scenarios
test-scenarios: jar ## every scenario with RocketMQ's brokers in its short form, about 20 minutes (SCENARIO=pattern for some)
	@SCENARIOS=1 go test -count 1 -timeout 2h -v -run '$(SCENARIO)' $(TESTFLAGS) ./interop/...

.PHONY: test-adapters
test-adapters: ## the adapters' tests, against real Kafka and RocketMQ (a JDK and Maven are needed)
	@for m in $(adapters); do go -C $$m test -race -timeout $(TIMEOUT) $(TESTFLAGS) ./...; done
	@# rocketmq-client-go races with itself, so what runs it is built without the detector.
	@go -C adapters/rocketmqgo test -timeout $(TIMEOUT) $(TESTFLAGS) ./...

.PHONY: test-bench
test-bench: ## bench's tests, with one round of each system that is compared
	@go -C bench test -race -timeout $(TIMEOUT) $(TESTFLAGS) ./...

.PHONY: tidy-adapters
tidy-adapters: ## bring go.mod and go.sum of the adapters and bench after a change to the root's
	@for m in $(modules); do go -C $$m mod tidy; done

.PHONY: example-kafka
example-kafka: ## show adapters/franzgo/example on a real Kafka broker: a kill, a restart, an operator's reset
	@go -C adapters/franzgo test -count 1 -v -run TestExample ./example

.PHONY: lint
lint: $(tools)/staticcheck ## gofmt, vet, staticcheck, generated code, scripts, builds for macOS and Windows
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not formatted: $$(gofmt -l $$(git ls-files '*.go'))" >&2; exit 1; }
	@go vet ./...
	@go vet -tags tidemark_mutants ./...
	@go vet -tags nextformat ./fsm/... ./node
	@GOOS=darwin GOARCH=arm64 go build ./client ./cmd/tidemark
	@GOOS=windows GOARCH=amd64 go build ./client ./cmd/tidemark
	@$(tools)/staticcheck ./...
	@for m in $(modules); do (cd $$m && go vet ./... && $(CURDIR)/$(tools)/staticcheck ./...); done
	@go -C tools vet ./...
	@cd interop/fleet/goclient && go vet . && go vet -modfile=v2.1.2.mod .
	@go -C tools run ./protogen -check ../transport/api
	@for f in $$(git ls-files '*.sh') .ci/run; do bash -n $$f; done

$(tools)/staticcheck: tools/go.mod tools/go.sum
	@mkdir -p $(tools)
	@go -C tools build -o ../$(tools)/staticcheck honnef.co/go/tools/cmd/staticcheck

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (20s), JOBS (1) at a time, and print what is covered (TARGET=pattern for some)
	@go -C tools run ./fuzz -time $(FUZZTIME) -jobs $(JOBS) -match '$(TARGET)' ..

.PHONY: fuzz-planted
fuzz-planted: ## take checks out of the decoders, one at a time, until each fuzz target notices (FUZZTIME, JOBS, TARGET)
	@go -C tools run ./fuzz -planted -time $(FUZZTIME) -jobs $(JOBS) -match '$(TARGET)' -skip FuzzSuggest ..

.PHONY: fuzz-java
fuzz-java: ## fuzz what reads bytes in java/, each target for FUZZTIME, JOBS at a time (a JDK and Maven are needed)
	@java/mvn.sh -pl client,broker -am -Dtest=FuzzTest -Dsurefire.failIfNoSpecifiedTests=false -Dfuzz.time=$(FUZZTIME) \
		-Djunit.jupiter.execution.parallel.enabled=true -Djunit.jupiter.execution.parallel.mode.default=concurrent \
		-Djunit.jupiter.execution.parallel.config.strategy=fixed -Djunit.jupiter.execution.parallel.config.fixed.parallelism=$(JOBS) package
	@grep -hoE '[A-Za-z.]*FuzzTest\.[a-zA-Z]*: .* seed .*' java/*/target/surefire-reports/TEST-*FuzzTest.xml

.PHONY: bench
bench: ## compare with etcd and NATS on this machine, and print one table: at most 30 minutes, SHORT=1 takes 3 (bench/README.md)
	@go -C bench run ./compare --size $(if $(SHORT),short,usual) $(if $(REV),--rev $(REV))

.PHONY: bench-full
bench-full: ## the same with more rows and systems, two hours and a quarter; goes on where it was ended (ROUNDS=2 takes an hour and a quarter; REV=revision measures an older build beside)
	@go -C bench run ./compare --size full $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(REV),--rev $(REV))

.PHONY: bench-alone
bench-alone: build ## what a cluster alone costs and bears, in one table (FULL=1 takes an hour; PARTS="load import queues failover go")
	@go -C bench build -o $(CURDIR)/$(bin)/ ./load ./import50 ./queues
	@BENCH_BIN=$(CURDIR)/$(bin) bench/bench.sh $(if $(FULL),--full) $(PARTS)

.PHONY: bench-go
bench-go: ## run the Go benchmarks (BENCH=pattern, BENCHTIME=1s)
	@go test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -timeout 2h $(TESTFLAGS) ./...

.PHONY: bench-broker
bench-broker: jar ## measure a broker with the jar beside one without, in turns, and print one table
	@SOAK=1 go test -count 1 -timeout 1h -v -run TestSpeed ./interop

.PHONY: bench-java
bench-java: build ## measure commits of one Java process to three nodes (a JDK and Maven are needed)
	@java/mvn.sh -pl client -DskipTests package
	@java -Dtidemarkd=bin/tidemarkd -cp java/client/target/classes:java/client/target/test-classes io.github.tidemarkmq.client.CommitBench

.PHONY: soak
soak: build ## clients and faults for DURATION (30m), on members in one process and on processes and their disks, all checked (SEED=n, KEEP=folder)
	@DURATION=$(DURATION) SEED=$(SEED) KEEP=$(KEEP) SOAK=1 go test -count 1 -timeout 48h -v $(TESTFLAGS) ./cluster-test/soak

.PHONY: test-long
test-long: build ## what takes long: tests with the durations and counts of real faults, the story thrice, kills, a trace
	@SOAK=1 go test -timeout 4h $(TESTFLAGS) ./...
	@for i in 1 2 3; do $(cluster) cluster-test/cluster.sh story; done
	@$(cluster) cluster-test/failover.sh
	@$(cluster) cluster-test/traced.sh

.PHONY: generate
generate: ## generate the API's code and the fixtures again
	@go -C tools run ./protogen ../transport/api
	@go test ./internal/fixture -run TestBrokerFile -count 1 -update >/dev/null

.PHONY: install
install: build ## install both programs, their manual pages and shell completion below PREFIX (/usr/local)
	@install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man8 $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	@install -m 755 bin/tidemarkd bin/tidemark $(DESTDIR)$(PREFIX)/bin
	@bin/tidemark man > $(DESTDIR)$(PREFIX)/share/man/man1/tidemark.1
	@bin/tidemarkd --man > $(DESTDIR)$(PREFIX)/share/man/man8/tidemarkd.8
	@bin/tidemark completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tidemark
	@bin/tidemark completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_tidemark
	@bin/tidemark completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/tidemark.fish

.PHONY: clean
clean: ## stop what make run left, and delete what was built and run
	@cluster-test/cluster.sh down
	@rm -rf bin .cache .run
