# safrasync: `make` alone prints the targets. Needs Go, git, make, and root or sudo for what the tests install by apt-get.

.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

VERSION ?= $(shell .ci/version)
# The version comes from .ci/version, so Go need not ask git itself (which fails in a clone that belongs to another user).
# vet, lint and the tests that build the program compile with the same settings, so that what they depend on is compiled once and not three times.
BUILD := CGO_ENABLED=0 go build -trimpath -buildvcs=false
LDFLAGS := -s -w -X main.version=$(VERSION)

# The same flags for every target that runs tests let Go's test cache answer the second time.
# The race detector watches the packages that do several things at once, and of the tests of the whole program those of the service, which puts them together. All else is tested as it is
# built for the product, in a third of the time. Those that take longest come first. internal/limits fails when a package that must be watched is not.
WATCHED := ./sync ./erp ./console ./console/auth ./console/pages ./sync/cluster ./sync/outcome ./sync/pending ./sync/reconcile ./sync/run ./sync/sending \
	./state/... ./apiclient/... ./internal/office ./cmd/safrasync/daemon ./cmd/safrasync/cli \
	./erp/dialect ./erp/dialect/firebird ./erp/dialect/mysql ./erp/dialect/postgres ./erp/dialect/sqlite ./erp/dialect/sqlserver \
	./internal/alert ./internal/connlimit ./internal/failpoint ./internal/httpapi ./internal/receiver
# Tests of ledger and engine in which one goroutine repeats the same steps hundreds of times, with each call failing once, each copy put back, the connection cut at each byte, day by day, or for thousands of rows.
# The others take these steps under the detector. All tests of ./sync run without it, and those with it that add something (the rest, of which one in four: either in its setup_test.go).
REPEATED := ^Test(EveryCall|AnyValue|F058|ARebuild|I9|ARoll|PagesGive|AGroupIs|TheDatabaseAllows|SendingGoes)
REPEATED_RUNS := ^Test(F091|F058|F142The|EveryCallOf(TheEngine|What)|TwoYears|AYear|ASeed|ChildrenDo|ASoftDeleted|AnOldImage|NoImageIs|ALedgerKnows)
SERVICE := Service|Reload|Strangers|Monitoring|^TestF0[78]|^TestF1[45]
# The race detector needs cgo; the product never does. It does not watch SQLite's C translated to Go, nor hashes, which takes it four times as long as all the rest: what database/sql
# and our code do with them is watched.
# A process with the race detector waits a second before it ends, for what other threads may still do; a twentieth is enough.
RACED := -race -gcflags='modernc.org/...=-race=false' -gcflags='golang.org/x/crypto/...=-race=false'
RACE := CGO_ENABLED=1 GORACE=atexit_sleep_ms=50 go test $(RACED)
# `make vet` asks more than what go test would ask again, of the same files, before each of the two kinds of tests.
GOTEST := CGO_ENABLED=0 go test -trimpath -vet=off -timeout 40m
# Two packages at once, beside the two other rows of tests: they also wait, for leases, browsers and packages.
RACETEST := $(RACE) -vet=off -p 2 -timeout 40m
# Files that only a tag lets in, which vet does not see.
TAGGED := $(RACE) -p 2 -timeout 40m

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the static binary bin/safrasync
	$(BUILD) -ldflags '$(LDFLAGS)' -o bin/safrasync ./cmd/safrasync

.PHONY: packages
packages: ## build the .deb and .rpm for amd64 and arm64 (ARCH=amd64: one) into dist/; the same commit gives the same bytes; SIGN_KEY, a key of gpg, signs SHA256SUMS
	VERSION='$(VERSION)' .ci/package dist $(ARCH)

.PHONY: image
image: ## build the container image safrasync:latest from this tree alone, with buildah, podman or docker (ARCH=arm64 for another machine)
	VERSION='$(VERSION)' .ci/image $(ARCH)

.PHONY: site
site: ## make docs/ a static site in dist/site, in English and Portuguese, with a search; it needs no server, and loads nothing from elsewhere
	CGO_ENABLED=0 go run -C tools -trimpath -buildvcs=false ./site .. ../dist/site

.PHONY: vuln
vuln: ## look for known vulnerabilities in code that is called, with govulncheck; needs the network, or a copy of the database (VULNDB=file:///path)
	.ci/vuln

.PHONY: demo
demo: build ## build, then show the whole thing on embedded parts (no database or network needed)
	bin/safrasync demo

# One PostgreSQL server for the tests of all packages, which else start one each.
LEND := CGO_ENABLED=0 go run -trimpath ./internal/pgtest/lend

.PHONY: test
test: need ## run all tests; installs PostgreSQL, Patroni, MariaDB, Firebird, Chromium, LibreOffice, gcc, strace, lintian, rpm, buildah and Wine when missing
	@$(LEND) $(MAKE) tests

# What the rows share is compiled before they begin, each of the two kinds once: commands that run side by side do not wait for what another one compiles, they compile it, too.
.PHONY: tests
tests:
	@CGO_ENABLED=1 go build $(RACED) $(WATCHED) ./cmd/safrasync & raced=$$!; CGO_ENABLED=0 go build -trimpath ./... && wait $$raced
	@mkdir -p bin; (cd tools && $(GOTEST) -p 1 ./...) >bin/tools.log 2>&1 & tools=$$!; \
	{ code=0; $(GOTEST) -skip '$(SERVICE)' ./cmd/safrasync || code=1; $(RACETEST) -skip '$(REPEATED)' ./state || code=1; \
	$(GOTEST) -run '$(REPEATED)' ./state || code=1; $(RACETEST) -run '$(SERVICE)' ./cmd/safrasync || code=1; \
	$(GOTEST) -p 1 $$({ go list ./...; go list $(WATCHED) ./cmd/safrasync; } | sort | uniq -u) || code=1; exit $$code; } >bin/plain.log 2>&1 & plain=$$!; \
	$(GOTEST) ./sync; code=$$?; $(RACETEST) -skip '$(REPEATED_RUNS)' ./sync || code=1; \
	$(RACETEST) $$(go list $(WATCHED) | grep -v -e '/safrasync/state$$' -e '/safrasync/sync$$') || code=1; wait $$plain || code=1; wait $$tools || code=1; cat bin/plain.log bin/tools.log; exit $$code

.PHONY: failpoints
failpoints: need ## fail, panic, kill and stall the program at its own steps, with both ledgers (build tag failpoint)
	$(TAGGED) -tags failpoint -run '^TestFailpoint' ./sync

.PHONY: disks
disks: need ## cut the power of ledger and journal, and let each system call fail (build tags strace, and seccomp: Linux 5.5)
	$(TAGGED) -tags strace -run '^TestF050_?APower|^TestF048_?TheKth' ./state ./sync
	go test -timeout 30m -tags seccomp -run '^TestTheKthCall|^TestF048_?EverySystemCall|^TestALedgerThatMayNot|^TestAFolderThatIsGone|^TestAProc' ./internal/sickdisk ./state/...

.PHONY: check
check: tools format-check vet lint imports modules cross test ## all that must pass before a commit, the tests included

.PHONY: lint
lint: tools ## run golangci-lint (.golangci.yml)
	CGO_ENABLED=0 GOFLAGS=-trimpath bin/golangci-lint run ./...
	cd tools && CGO_ENABLED=0 GOFLAGS=-trimpath ../bin/golangci-lint run ./...

.PHONY: fmt
fmt: tools ## format the code with gofumpt
	bin/gofumpt -w .

.PHONY: test-long
test-long: need ## the tests with SAFRASYNC_TEST_LONG=1, then each fuzz target for FUZZTIME (30s)
	@SAFRASYNC_TEST_LONG=1 .ci/need-proxies
	SAFRASYNC_TEST_LONG=1 $(RACE) -timeout 90m -artifacts -outputdir $(CURDIR)/bin ./...
	cd tools && SAFRASYNC_TEST_LONG=1 $(RACE) -timeout 90m ./...
	SAFRASYNC_TEST_LONG=1 $(RACE) -timeout 90m -tags failpoint -run '^TestFailpoint' ./sync
	@$(MAKE) histories HISTORIES=10000
	SAFRASYNC_TEST_LONG=1 $(RACE) -timeout 90m -tags strace -run '^TestF050_?APower|^TestF048_?TheKth' ./state ./sync
	SAFRASYNC_TEST_LONG=1 go test -timeout 90m -tags seccomp -run '^TestTheKthCall|^TestF048_?EverySystemCall|^TestALedgerThatMayNot|^TestAFolderThatIsGone|^TestAProc' ./internal/sickdisk ./state/...
	.ci/fuzz

HISTORIES ?= 10000
SEED ?= 1
ACTS ?=

.PHONY: histories
histories: need ## HISTORIES (10000) random histories of an ERP, its jobs and its people, judged from outside; SEED is that of the first, ACTS=NAME,only:NAME,all adds acts that are off
	cd tools && go test -count=1 -timeout 4h ./histories -histories $(HISTORIES) -seed $(SEED) -acts '$(ACTS)'

KILLS ?= 200
INSTANCES ?= 1

.PHONY: torture
torture: need ## kill the real program KILLS times (200) on both ledgers while everything fails, and judge from outside; SEED repeats a plan; INSTANCES=2: on so many machines
	@if [ $(INSTANCES) -gt 1 ]; then set -x; \
	cd tools && go test -count=1 -timeout 24h -v ./torture -run '^TestI12' -machines $(INSTANCES) -rounds $(KILLS) -seed $(SEED); else set -x; \
	cd tools && go test -count=1 -timeout 12h -v ./torture -skip '^TestI12' -kills $(KILLS) -seed $(SEED); fi

FAILOVERS ?= 100
FAULT ?=

.PHONY: failovers
failovers: need ## let a Patroni cluster fail over FAILOVERS times (100) under two machines that send, and judge from outside; SEED repeats a plan; FAULT=NAME: only that fault
	cd tools && go test -count=1 -timeout 24h -v ./failover -failovers $(FAILOVERS) -seed $(SEED) -only '$(FAULT)'

ROWS ?= 20000
REPS ?= 3
ONLY ?=
FULL ?=
BENCHFLAGS = -rows $(ROWS) -reps $(REPS) -only '$(ONLY)' $(if $(FULL),-full) -json ../bin/bench.jsonl

.PHONY: bench
bench: build ## measure speed beside the yardsticks: ROWS (20000), REPS (3), ONLY=20ms,sqlite,send leaves out the rest, FULL=1 takes hours
	@.ci/need-postgres
	@.ci/need-sqlite
	@.ci/need-strace
	go run -C tools ./bench $(BENCHFLAGS)

.PHONY: bench-page
bench-page: build ## the same, and put the tables into tools/bench/RESULTS.md
	@.ci/need-postgres
	@.ci/need-sqlite
	@.ci/need-strace
	go run -C tools ./bench $(BENCHFLAGS) -table bench/RESULTS.md

.PHONY: bench-steps
bench-steps: need ## Go benchmarks of the steps of a row, with what they allocate
	go test -run '^$$' -bench . -benchmem ./trade ./apiclient ./state/... ./sync

size pages reports: ROWS = 1000000

.PHONY: size
size: need ## make ledgers of ROWS rows (1000000) on both databases, and measure passes over them
	cd tools && go test -count=1 -timeout 12h -v ./bench/size -run Filled -rows $(ROWS)

.PHONY: pages
pages: need ## make ledgers of ROWS rows (1000000), three in a hundred of them stuck, and measure every page of the console on both databases
	cd tools && go test -count=1 -timeout 12h -v ./bench/size -run Pages -rows $(ROWS) -times 10 -formats ''

.PHONY: reports
reports: need ## make ledgers of ROWS rows (1000000), and measure a report in every form, by the command and by the console, on both databases
	cd tools && go test -count=1 -timeout 12h -v ./bench/size -run Reports -rows $(ROWS) -formats csv,xlsx,json,html -times 0

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME (30s); FUZZCORPUS is a folder that keeps what they found
	.ci/fuzz

.PHONY: cover
cover: need ## test coverage over all packages, into bin/cover.html
	@mkdir -p bin
	go test -timeout 15m -coverpkg=./... -coverprofile=bin/cover.out ./...
	go tool cover -html=bin/cover.out -o bin/cover.html
	go tool cover -func=bin/cover.out | tail -n 1

.PHONY: pictures
pictures: need ## make the pictures of docs/decisions.pt-BR.md anew, and the texts beside them; look at what changed before you commit it
	SAFRASYNC_CONSOLE=write go test -count=1 ./cmd/safrasync -run '^TestThePeopleOfACooperativeDoTheirTenThings$$'

.PHONY: tools
tools: ## install the pinned tools of .ci/tools.txt to ./bin
	@.ci/install-tools

.PHONY: clean
clean: ## remove what was built, and the installed tools
	rm -rf bin dist

# The steps of check, each also usable alone.

.PHONY: need
need:
	@.ci/need-gcc
	@.ci/need-postgres
	@.ci/need-sqlite
	@.ci/need-mariadb
	@.ci/need-firebird
	@.ci/need-prometheus
	@.ci/need-packaging
	@.ci/need-wine
	@.ci/need-buildah
	@.ci/need-iproute
	@.ci/need-patroni
	@.ci/need-proxies
	@.ci/need-chromium
	@.ci/need-libreoffice
	@.ci/need-strace

.PHONY: format-check
format-check: tools
	@unformatted=$$(bin/gofumpt -l .) && test -z "$$unformatted" || { echo "not formatted, run make fmt:" $$unformatted; exit 1; }

.PHONY: vet
vet:
	CGO_ENABLED=0 go vet -trimpath ./...
	cd tools && CGO_ENABLED=0 go vet -trimpath ./...

.PHONY: imports
imports: need
	$(GOTEST) ./internal/importrules

.PHONY: modules
modules:
	go mod tidy -diff
	cd tools && go mod tidy -diff
	.ci/check-libc-pin

.PHONY: cross
cross:
	GOOS=linux GOARCH=amd64 $(BUILD) ./...
	GOOS=linux GOARCH=arm64 $(BUILD) ./...
	GOOS=windows GOARCH=amd64 $(BUILD) -o /dev/null ./cmd/safrasync
