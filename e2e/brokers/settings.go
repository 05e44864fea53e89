package brokers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/backstay-go/backstay/e2e/internal/service"
)

// The ports of a broker.
type ports struct{ plain, sasl, controller int }

// properties are what the broker with this index is told, as server.properties.
func (p *plan) properties(index int, all []ports, data string) string {
	own, replicas := all[index], strconv.Itoa(p.brokers)
	inSync := strconv.Itoa(p.brokers/2 + 1)
	lines := map[string]string{
		"process.roles":              "broker,controller",
		"node.id":                    strconv.Itoa(id(index)),
		"controller.quorum.voters":   voters(all),
		"controller.listener.names":  "CONTROLLER",
		"inter.broker.listener.name": "PLAINTEXT",
		"listeners": fmt.Sprintf("PLAINTEXT://%s,CONTROLLER://%s",
			service.Loopback(own.plain), service.Loopback(own.controller)),
		"listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",

		"log.dirs":                   data,
		"auto.create.topics.enable":  "false", // a topic that is missing is a fault of what is tested
		"default.replication.factor": replicas,
		"min.insync.replicas":        inSync,

		"offsets.topic.num.partitions":                     "8",
		"offsets.topic.replication.factor":                 replicas,
		"transaction.state.log.num.partitions":             "4",
		"transaction.state.log.replication.factor":         replicas,
		"transaction.state.log.min.isr":                    inSync,
		"share.coordinator.state.topic.replication.factor": replicas,
		"share.coordinator.state.topic.min.isr":            inSync,
		"log.cleaner.dedupe.buffer.size":                   "16777216", // stock is a quarter of the heap
	}
	if p.user != "" {
		p.sasl(lines, own)
	}
	maps.Copy(lines, p.settings)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&text, "%s=%s\n", name, lines[name])
	}
	return text.String()
}

// sasl adds the listener that wants a user.
func (p *plan) sasl(lines map[string]string, own ports) {
	lines["listeners"] += ",SASL_PLAINTEXT://" + service.Loopback(own.sasl)
	lines["sasl.enabled.mechanisms"] = "PLAIN"
	lines["listener.name.sasl_plaintext.plain.sasl.jaas.config"] = fmt.Sprintf(
		`org.apache.kafka.common.security.plain.PlainLoginModule required user_%s=%q;`, p.user, p.password)
}

// id is the number that the brokers know the one with this index by.
func id(index int) int { return index + 1 }

func voters(all []ports) string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = fmt.Sprintf("%d@%s", id(i), service.Loopback(p.controller))
	}
	return strings.Join(names, ",")
}
