// Package kafka measures actors beside what they are made of: a request on one
// topic of Kafka and its response on another, sent and answered by two
// processes with the same client and the same settings ("Kafka only").
//
//	go test -bench . -benchtime 1x                              # once, briefly, on kfake
//	go test -bench . -benchtime 1x -clusters one -rounds 3 ...  # on real Kafka
//	make bench-kafka                                            # all of docs/kafka-bench.md
//
// Both kinds of calls go over the same brokers, in turns: a round times every
// operation, each round begins with another one, and a ratio is taken within a
// round. What is told is the median of the rounds.
//
// BenchmarkRecovery (-bench Recovery) times takeovers of a partition, by what was
// before its owner died.
package kafka
