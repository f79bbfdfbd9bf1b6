package failover

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/throwaway"
	"github.com/safrasync/safrasync/tools/machine"
)

// cluster is etcd and the nodes of Patroni.
type cluster struct {
	test    testing.TB
	dir     *throwaway.Dir
	as      *syscall.Credential // servers do not run as root
	bin     string              // PostgreSQL's programs
	patroni string              // the program
	etcd    *machine.Machine
	store   int // the port of etcd
	nodes   []*node
	api     http.Client
}

// node is one machine with PostgreSQL and Patroni.
type node struct {
	machine.Machine
	c       *cluster
	port    int    // of PostgreSQL
	rest    int    // of Patroni
	etcd    *valve // the way to etcd
	replica *valve // by which other nodes reach its PostgreSQL
	stopped bool
}

// The times of Patroni, in seconds. They are shorter than its defaults (30, 10, 10), so that more
// fail-overs fit into an hour.
const (
	ttl          = 10
	loopWait     = 2
	retryTimeout = 4
)

const nodes = 3

// newCluster starts a cluster with one leader.
func newCluster(t testing.TB, bin string, synchronous bool) *cluster {
	t.Helper()
	as, err := throwaway.User("postgres")
	if err != nil {
		t.Fatal(err)
	}
	patroni, err := exec.LookPath("patroni")
	if err != nil {
		t.Fatalf("run .ci/need-patroni, which installs Patroni and etcd: %v", err)
	}
	kind := throwaway.Kind{
		Prefix: "safrasync-failover-", InMemory: true, StillServed: func(string) bool { return false },
	}
	dir, err := kind.NewDir(as)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dir.Remove(); err != nil {
			t.Error(err)
		}
	})
	c := &cluster{test: t, dir: dir, as: as, bin: bin, patroni: patroni, api: http.Client{Timeout: 3 * time.Second}}
	t.Cleanup(c.api.CloseIdleConnections)
	c.startStore()
	for i := range nodes {
		c.nodes = append(c.nodes, c.newNode(i, synchronous))
	}
	for _, n := range c.nodes {
		n.Start(t)
		t.Cleanup(n.Kill)
	}
	return c
}

// place makes a folder in which the servers may write.
func (c *cluster) place(name string) string {
	c.test.Helper()
	path := filepath.Join(c.dir.Path, name)
	err := os.Mkdir(path, 0o700)
	if err == nil && c.as != nil {
		err = os.Chown(path, int(c.as.Uid), int(c.as.Gid))
	}
	if err != nil {
		c.test.Fatal(err)
	}
	return path
}

// script returns a shell script that runs a program as the servers' user, again and again.
func (c *cluster) script(command string) string {
	uid, gid := os.Getuid(), os.Getgid()
	if c.as != nil {
		uid, gid = int(c.as.Uid), int(c.as.Gid)
	}
	return fmt.Sprintf("export PATH=%s:$PATH HOME=%s LC_ALL=C TZ=UTC; cd /; "+
		"while :; do setpriv --reuid=%d --regid=%d --clear-groups %s; sleep 1; done", c.bin, c.dir.Path, uid, gid, command)
}

func (c *cluster) freePort() int {
	c.test.Helper()
	port, err := throwaway.FreePort()
	if err != nil {
		c.test.Fatal(err)
	}
	return port
}

// startStore starts etcd, with one member: how etcd itself fails is not tried.
func (c *cluster) startStore() {
	c.test.Helper()
	c.store = c.freePort()
	client, peer := fmt.Sprintf("http://127.0.0.1:%d", c.store), fmt.Sprintf("http://127.0.0.1:%d", c.freePort())
	dir := c.place("etcd")
	c.etcd = &machine.Machine{
		Name: "etcd", ID: fmt.Sprintf("%032d", 90), Dir: filepath.Join(c.dir.Path, "etcd-machine"),
		Script: c.script(fmt.Sprintf("etcd --name e --data-dir %s/data --listen-client-urls %s --advertise-client-urls %[2]s "+
			"--listen-peer-urls %s --initial-advertise-peer-urls %[3]s --initial-cluster e=%[3]s --logger zap --log-level warn",
			dir, client, peer)),
	}
	c.etcd.Prepare(c.test)
	c.etcd.Start(c.test)
	c.test.Cleanup(c.etcd.Kill)
}

// configuration is that of a node. The address that it publishes in etcd, by which the others
// replicate, leads through a valve.
const configuration = `scope: safrasync
name: %[1]s
restapi: {listen: "127.0.0.1:%[2]d", connect_address: "127.0.0.1:%[2]d"}
etcd3: {hosts: "127.0.0.1:%[3]d", use_proxies: true}
bootstrap:
  dcs:
    ttl: %[4]d
    loop_wait: %[5]d
    retry_timeout: %[6]d
    maximum_lag_on_failover: 1073741824
    synchronous_mode: %[7]t
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters: {wal_keep_size: 256MB, max_connections: 100, shared_buffers: 32MB, dynamic_shared_memory_type: mmap}
  initdb: [{encoding: UTF8}, {locale: C}, no-sync]
postgresql:
  listen: "127.0.0.1:%[8]d"
  connect_address: "127.0.0.1:%[9]d"
  data_dir: %[10]s/data
  bin_dir: %[11]s
  pgpass: %[10]s/pgpass
  remove_data_directory_on_rewind_failure: true
  remove_data_directory_on_diverged_timelines: true
  authentication: {superuser: {username: postgres}, replication: {username: replicator}, rewind: {username: postgres}}
  parameters: {unix_socket_directories: "", logging_collector: "off"}
  pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
  basebackup: [checkpoint: fast, no-sync]
`

func (c *cluster) newNode(i int, synchronous bool) *node {
	c.test.Helper()
	n := &node{c: c, port: c.freePort(), rest: c.freePort()}
	n.etcd = newValve(c.test, fmt.Sprintf("127.0.0.1:%d", c.store))
	n.replica = newValve(c.test, fmt.Sprintf("127.0.0.1:%d", n.port))
	n.Name, n.ID = fmt.Sprintf("node-%d", i), fmt.Sprintf("%032d", 50+i)
	place := c.place(n.Name)
	n.Dir = filepath.Join(c.dir.Path, n.Name+"-machine")
	// A process of the node that lost its power may have had a number that another one has now.
	n.Script = fmt.Sprintf("rm -f %s/data/postmaster.pid; ", place) + c.script(c.patroni+" "+n.Dir+"/patroni.yml")
	n.Prepare(c.test)
	text := fmt.Sprintf(configuration, n.Name, n.rest, n.etcd.port, ttl, loopWait, retryTimeout, synchronous, n.port,
		n.replica.port, place, c.bin)
	if err := os.WriteFile(filepath.Join(n.Dir, "patroni.yml"), []byte(text), 0o644); err != nil {
		c.test.Fatal(err)
	}
	return n
}

// member is what Patroni says about its node.
type member struct {
	State       string `json:"state"`
	Timeline    int    `json:"timeline"`
	Replication []struct {
		Name  string `json:"application_name"`
		State string `json:"state"`
		Sync  string `json:"sync_state"`
	} `json:"replication"` // of a leader: who replicates from it
}

// ask asks the Patroni of a node.
func (n *node) ask(method, path, body string) (status int, text []byte, err error) {
	request, err := http.NewRequestWithContext(n.c.test.Context(), method,
		fmt.Sprintf("http://127.0.0.1:%d%s", n.rest, path), strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	answer, err := n.c.api.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err = io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

// leads returns what a node says that has the lead and takes writes.
func (n *node) leads() (m member, ok bool) {
	if n.stopped || !n.Runs() {
		return m, false
	}
	status, text, err := n.ask(http.MethodGet, "/primary", "")
	ok = err == nil && status == http.StatusOK && json.Unmarshal(text, &m) == nil && m.State == "running"
	return m, ok
}

// leader returns the node that has the lead, or nil.
func (c *cluster) leader() (*node, member) {
	for _, n := range c.nodes {
		if m, ok := n.leads(); ok {
			return n, m
		}
	}
	return nil, member{}
}

// healthy reports whether there is a leader, all other nodes replicate from it, and in synchronous
// mode one of them is synchronous, and Patroni on it knows that.
func (c *cluster) healthy(synchronous bool) bool {
	_, m := c.leader()
	ready, sync, known := 0, 0, false
	for _, r := range m.Replication {
		if r.State == "streaming" {
			ready++
		}
		if r.Sync == "sync" {
			sync++
			known = known || c.is(r.Name, "/sync")
		}
	}
	return ready == nodes-1 && (sync > 0) == synchronous && known == synchronous
}

// is reports whether Patroni says that the node with this name is something.
func (c *cluster) is(name, path string) bool {
	for _, n := range c.nodes {
		if n.Name == name && !n.stopped && n.Runs() {
			status, _, err := n.ask(http.MethodGet, path, "")
			return err == nil && status == http.StatusOK
		}
	}
	return false
}

// renew makes those replicas anew that do not follow the leader, and removes from etcd which one is
// synchronous, which the leader then writes anew. When an old leader takes the lead back, Patroni 3.0
// may leave them as they are for ever.
func (c *cluster) renew() {
	c.test.Helper()
	leader, m := c.leader()
	if leader == nil {
		return
	}
	follows := map[string]bool{}
	for _, r := range m.Replication {
		follows[r.Name] = r.State == "streaming"
	}
	for _, n := range c.nodes {
		if n != leader && !n.stopped && n.Runs() && !follows[n.Name] {
			status, text, err := n.ask(http.MethodPost, "/reinitialize", `{"force": true}`)
			c.test.Logf("%s is made anew: %d %s %v", n.Name, status, bytes.TrimSpace(text), err)
		}
	}
	key := base64.StdEncoding.EncodeToString([]byte("/service/safrasync/sync"))
	answer, err := c.api.Post(fmt.Sprintf("http://127.0.0.1:%d/v3/kv/deleterange", c.store), "application/json",
		strings.NewReader(`{"key": "`+key+`"}`))
	if err != nil {
		c.test.Fatal(err)
	}
	c.test.Logf("which replica is synchronous is removed from etcd: %s, %v", answer.Status, answer.Body.Close())
}

// order sends an order to the Patroni of the leader.
func (c *cluster) order(method, path string, body any) error {
	leader, _ := c.leader()
	if leader == nil {
		return fmt.Errorf("%s: there is no leader", path)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	status, answer, err := leader.ask(method, path, string(text))
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, status, bytes.TrimSpace(answer))
	}
	return err
}

// dsn is the address of the leader for a superuser.
func (n *node) dsn(database string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=%s sslmode=disable connect_timeout=5", n.port, database)
}

// freeze stops all processes of the node, as a machine that is suspended; wake continues them.
func (n *node) freeze() {
	n.SignalAll("STOP")
	n.stopped = true
}

func (n *node) wake() {
	n.SignalAll("CONT")
	n.stopped = false
}

// signalManager sends a signal to the node's Patroni alone.
func (n *node) signalManager(name string) {
	n.c.test.Helper()
	if !n.Signal(name, n.c.patroni) {
		n.c.test.Fatalf("no Patroni runs on %s", n.Name)
	}
	n.stopped = name == "STOP"
}
