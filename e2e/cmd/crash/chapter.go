package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// chapter is an application, from its topics on.
type chapter struct {
	*scene
	run    *run
	app    string
	hosts  []*process
	client *process
	told   int // of the faults heard, those that a result has
}

// patience is how long the system may take to settle, and to be audited.
const patience = 2 * time.Minute

// begin starts the processes of a new application, and waits until they have
// settled.
func (r *run) begin(ctx context.Context) (*chapter, error) {
	r.chapters++
	c := &chapter{scene: newScene(), run: r, app: fmt.Sprintf("%s-%d", r.app, r.chapters)}
	for i := range hosts {
		p, err := c.host(fmt.Sprint("h", i+1))
		if err != nil {
			c.stop()
			return nil, err
		}
		c.hosts = append(c.hosts, p)
	}
	var names []string
	for id := range idOf {
		names = append(names, id)
	}
	client, err := c.start("client", c.args("-drill", "-pulses", strings.Join(names, ","),
		"-orders", "1000000", "-pace", "400ms", "-seed", fmt.Sprint(r.seed))...)
	if err != nil {
		c.stop()
		return nil, err
	}
	c.client = client
	if err := c.settle(ctx); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// args are those of all processes.
func (c *chapter) args(more ...string) []string {
	return append([]string{
		"-kafka", strings.Join(c.run.addrs, ","), "-app", c.app, "-copies", fmt.Sprint(c.run.copies), "-day", "1s",
	}, more...)
}

// start starts a process, and keeps what it says, if that is wanted.
func (c *chapter) start(name string, args ...string) (*process, error) {
	if c.run.said == "" {
		return start(c.run.program, name, c.hear, nil, args...)
	}
	copied, err := os.Create(filepath.Join(c.run.said, fmt.Sprintf("%s-%s-%d.jsonl", c.app, name, time.Now().UnixMilli())))
	if err != nil {
		return nil, err
	}
	return start(c.run.program, name, c.hear, copied, args...)
}

// host starts a process that hosts actors.
func (c *chapter) host(name string) (*process, error) {
	return c.start(name, c.args("-drill", "-node", name)...)
}

// again starts a host in the place of one that is gone.
func (c *chapter) again(gone *process) error {
	p, err := c.host(gone.name)
	if err == nil {
		c.hosts[slices.Index(c.hosts, gone)] = p
	}
	return err
}

// settle waits until the system has settled.
func (c *chapter) settle(ctx context.Context) error {
	return c.await(ctx, patience, func() string {
		for _, p := range append(slices.Clone(c.hosts), c.client) {
			if !p.alive() {
				return fmt.Sprintf("%s has ended with %d: %s", p.name, p.code, p.said.String())
			}
		}
		return c.unsettled(time.Now(), c.hosts)
	})
}

// await waits until nothing stands in the way of something, for so long.
func (c *chapter) await(ctx context.Context, long time.Duration, obstacle func() string) error {
	why := obstacle()
	for end := time.Now().Add(long); why != ""; why = obstacle() {
		if time.Now().After(end) {
			return fmt.Errorf("after %v: %s", long, why)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// news are the faults that no result has yet.
func (c *chapter) news() []string {
	all := c.heard().faults
	defer func() { c.told = len(all) }()
	return all[c.told:]
}

// end has the client audit everything, and ends all processes.
func (c *chapter) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	err := c.client.end(ctx)
	for _, f := range c.news() {
		err = errors.Join(err, errors.New(f))
	}
	for _, p := range c.hosts {
		err = errors.Join(err, p.end(ctx))
	}
	return err
}

// stop kills whatever is there.
func (c *chapter) stop() {
	for _, p := range c.hosts {
		p.kill()
	}
	if c.client != nil {
		c.client.kill()
	}
}
