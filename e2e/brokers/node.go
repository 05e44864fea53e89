package brokers

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/backstay-go/backstay/e2e/internal/service"
)

// checkpoint is the file of a data folder that holds the first records.
const checkpoint = "bootstrap.checkpoint"

// node is one broker, which is a controller too.
type node struct {
	from    *distribution
	dir     string
	ports   ports
	compile string // how Java does
	process *service.Process
}

// format makes its data folder.
func (n *node) format(cluster string, index int) error {
	data := n.data()
	if err := os.MkdirAll(data, 0o750); err != nil {
		return err
	}
	records, err := os.ReadFile(filepath.Join(n.from.dir, checkpoint))
	if err != nil {
		return err
	}
	meta := fmt.Sprintf("version=1\ncluster.id=%s\nnode.id=%d\ndirectory.id=%s\n", cluster, id(index), uuid())
	return errors.Join(
		os.WriteFile(filepath.Join(data, checkpoint), records, 0o600), //nolint:gosec // below the test's own folder
		os.WriteFile(filepath.Join(data, "meta.properties"), []byte(meta), 0o600))
}

func (n *node) data() string       { return filepath.Join(n.dir, "data") }
func (n *node) properties() string { return filepath.Join(n.dir, "server.properties") }

// start starts it on its data.
func (n *node) start() (err error) {
	n.process, err = service.Start(n.from.java, n.dir, n.from.arguments(n.compile, "kafka.Kafka", n.properties())...)
	return err
}

// await waits until it serves clients: it has joined the others by then.
func (n *node) await() error {
	return n.process.Await(func() error {
		if !strings.Contains(n.process.Output(), "Kafka Server started") {
			return errors.New("it has not said that it is started")
		}
		return nil
	})
}

// kill ends it, if it was started.
func (n *node) kill() error {
	if n.process == nil {
		return nil
	}
	return n.process.Kill()
}

// uuid is a random one, in the form of Kafka.
func uuid() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // it does not fail
	id[0] &= 0x7f           // no leading "-", which its tools take for an option
	return base64.RawURLEncoding.EncodeToString(id[:])
}
