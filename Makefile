# Everything here but e2e and bench-kafka runs on a machine that has Go and nothing else.
GOLANGCI_VERSION    := v2.15.0
STATICCHECK_VERSION := v0.8.2
FUZZTIME            := 5s
COUNT               := 5

BIN     := $(CURDIR)/.bin
MODULES := . $(patsubst %/go.mod,%,$(wildcard */go.mod))
export PATH := $(BIN):$(PATH)

.DEFAULT_GOAL := help

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: ## the tests, once
	go test ./...

.PHONY: race
race: ## the tests under the race detector, in random order
	go test -race -shuffle=on ./...

.PHONY: cover
cover: ## statement coverage, by function
	go test -coverpkg=./... -coverprofile=cover.out ./...
	go tool cover -func=cover.out | tail -n 1

.PHONY: fmt
fmt: ## fail if a file is not gofmt'ed
	@files=$$(gofmt -l .); test -z "$$files" || { echo "not gofmt'ed:"; echo "$$files"; exit 1; }

.PHONY: vet
vet: ## go vet, in every module
	@set -e; for m in $(MODULES); do echo "go vet $$m"; (cd $$m && go vet ./...); done

.PHONY: tools
tools: $(BIN)/golangci-lint-$(GOLANGCI_VERSION) $(BIN)/staticcheck-$(STATICCHECK_VERSION) ## install the linters into .bin

# The name carries the version, so that a new version is installed and an old one is left alone.
$(BIN)/golangci-lint-$(GOLANGCI_VERSION):
	GOBIN=$(BIN) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $(BIN)/golangci-lint $@

$(BIN)/staticcheck-$(STATICCHECK_VERSION):
	GOBIN=$(BIN) go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)
	mv $(BIN)/staticcheck $@

.PHONY: lint
lint: tools ## golangci-lint and staticcheck, in every module
	@set -e; for m in $(MODULES); do echo "lint $$m"; \
		(cd $$m && golangci-lint-$(GOLANGCI_VERSION) run ./... && staticcheck-$(STATICCHECK_VERSION) ./...); done

.PHONY: layers
layers: ## who imports whom
	go test -count=1 ./internal/arch/...

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME
	.ci/fuzz $(FUZZTIME)

.PHONY: examples
examples: ## build every example, run the first one
	go build -o /dev/null ./examples/...
	go run ./examples/quickstart

.PHONY: bench
bench: ## measure against the peers, in COUNT rounds, and write the table into README.md
	cd bench && go run ./cmd/table -rounds $(COUNT) -readme ../README.md

.PHONY: bench-kafka
bench-kafka: ## measure actors on kfake and on real Kafka, and write the tables into docs/kafka-bench.md
	cd bench && go test -run '^$$' -bench . -benchtime 1x -timeout 60m ./kafka -clusters kfake,one,three \
		-rounds 40 -warmup 10000 -calls 100 -seconds 1s -history 1000 -takeovers 21 -doc ../../docs/kafka-bench.md

.PHONY: bench-smoke
bench-smoke: ## run every benchmark of bench and e2e once, to see that it runs
	cd bench && go test -run '^$$' -bench . -benchtime 1x ./...
	cd e2e && go test -run '^$$' -bench . -benchtime 1x ./redis/...

.PHONY: e2e
e2e: ## tests against real servers; they say what is not installed
	cd e2e && go test -count=1 -timeout 10m ./...

.PHONY: ci
ci: ## everything that has to pass before a change goes in
	bash .ci/run
