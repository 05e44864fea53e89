// Kfake serves the protocol of Kafka on a loopback port, from memory or from a
// folder, until it is interrupted:
//
//	go run ./cmd/kfake -port 9092 -dir /tmp/kfake
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	port := flag.Int("port", 9092, "where it listens")
	dir := flag.String("dir", "", "where it keeps its data; empty means in memory")
	flag.Parse()
	options := []kfake.Opt{kfake.NumBrokers(1), kfake.Ports(*port)}
	if *dir != "" {
		options = append(options, kfake.DataDir(*dir))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kfake:", err)
		os.Exit(1)
	}
	fmt.Println("serving on", cluster.ListenAddrs()[0])
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	<-end
	cluster.Close() // writes what is not on disk yet
}
