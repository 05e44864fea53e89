package main

import (
	"fmt"

	"github.com/IBM/sarama"
)

// behind says whether a copy of a partition is behind, empty if none is.
func (r *run) behind() string {
	admin, err := sarama.NewClusterAdmin(r.addrs, sarama.NewConfig())
	if err != nil {
		return err.Error()
	}
	defer func() { _ = admin.Close() }() // it was only asked
	topics, err := admin.ListTopics()
	if err != nil {
		return err.Error()
	}
	var names []string
	for name := range topics {
		names = append(names, name)
	}
	all, err := admin.DescribeTopics(names)
	if err != nil {
		return err.Error()
	}
	for _, t := range all {
		for _, p := range t.Partitions {
			if len(p.Isr) < len(p.Replicas) {
				return fmt.Sprintf("%s/%d has %d copies in step", t.Name, p.ID, len(p.Isr))
			}
		}
	}
	return ""
}
