package brokers

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/backstay-go/backstay/e2e/internal/service"
)

//go:embed pom.xml
var pom []byte

//go:embed log4j2.properties
var logging []byte

const (
	needJava = "Java 17 or newer: apt-get install openjdk-17-jre-headless (Debian), brew install openjdk (macOS)"
	needMvn  = "it fetches Kafka, once: apt-get install maven (Debian, Ubuntu), brew install maven (macOS)"
)

// fetching is how long Maven may take.
const fetching = 5 * time.Minute

// distribution is a folder with what every broker needs:
//
//	libs/*.jar            Kafka
//	bootstrap.checkpoint  the first records of a cluster, see format
//	log4j2.properties     what it logs
type distribution struct {
	java string
	dir  string
}

// install returns the distribution, and fetches it if this machine has none
// yet. Of processes that want it at once, one fetches it and the others wait.
func install() (*distribution, error) {
	java, err := service.Find("java", needJava)
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("a folder for Kafka's jars: %w", err)
	}
	sum := sha256.Sum256(append(pom, logging...))
	d := &distribution{java: java, dir: filepath.Join(cache, "backstay", "kafka-"+hex.EncodeToString(sum[:8]))}
	if err := os.MkdirAll(filepath.Dir(d.dir), 0o750); err != nil {
		return nil, err
	}
	unlock, err := lock(d.dir + ".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := os.Stat(d.dir); err == nil {
		return d, nil
	}
	return d, d.fetch()
}

// lock waits until nobody else has the file locked.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // in the user's cache
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = f.Close() }, nil
}

// fetch makes the folder in another place first: it is there whole, or not.
func (d *distribution) fetch() error {
	part := &distribution{java: d.java, dir: d.dir + ".part"}
	if err := os.RemoveAll(part.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(part.dir, 0o750); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"pom.xml": pom, "log4j2.properties": logging} {
		if err := os.WriteFile(filepath.Join(part.dir, name), text, 0o600); err != nil {
			return err
		}
	}
	if err := part.jars(); err != nil {
		return err
	}
	if err := part.format(); err != nil {
		return err
	}
	return os.Rename(part.dir, d.dir)
}

// jars has Maven fetch them, and check their sums.
func (d *distribution) jars() error {
	mvn, err := service.Find("mvn", needMvn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), fetching)
	defer cancel()
	cmd := exec.CommandContext(ctx, mvn, //nolint:gosec // what the user has installed
		"-q", "--batch-mode", "--strict-checksums", "-f", filepath.Join(d.dir, "pom.xml"),
		"org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+filepath.Join(d.dir, "libs"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn could not fetch Kafka: %w; it said:\n%s", err, out)
	}
	return nil
}

// format keeps the file that Kafka's own tool puts into a new data folder. It
// is the same for every broker of this version, and running the tool takes
// half as long as starting a broker.
func (d *distribution) format() error {
	data := filepath.Join(d.dir, "data")
	properties := filepath.Join(d.dir, "format.properties")
	text := newPlan(nil).properties(0, []ports{{plain: 1, controller: 2}}, data)
	if err := os.WriteFile(properties, []byte(text), 0o600); err != nil {
		return err
	}
	args := d.arguments(quickStart, "kafka.tools.StorageTool", "format", "-t", uuid(), "-c", properties)
	if out, err := exec.Command(d.java, args...).CombinedOutput(); err != nil { //nolint:gosec,noctx // ends by itself
		return fmt.Errorf("kafka could not format a data folder: %w; it said:\n%s", err, out)
	}
	return os.Rename(filepath.Join(data, checkpoint), filepath.Join(d.dir, checkpoint))
}

// How Java compiles.
const (
	quickStart   = "-XX:TieredStopAtLevel=1"
	fullCompiler = "-XX:TieredStopAtLevel=4"
)

// arguments are those of java for one of Kafka's programs.
func (d *distribution) arguments(compile, program string, args ...string) []string {
	return append([]string{
		"-Xmx512m", "-XX:+UseSerialGC", compile,
		"-Dlog4j2.configurationFile=" + filepath.Join(d.dir, "log4j2.properties"),
		"-cp", filepath.Join(d.dir, "libs", "*"), program,
	}, args...)
}
