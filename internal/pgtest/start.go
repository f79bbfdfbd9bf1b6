package pgtest

import "path/filepath"

// Start starts a server for a program that is not a test (tools/bench). The settings are lines of
// postgresql.conf that are added after this package's own. The caller must call [Cluster.Remove].
func Start(settings string) (*Cluster, error) {
	forgetVariables()
	return newClusterWith(kind, settings)
}

// Create creates an empty database and returns its data source name. It is removed with the server.
func (c *Cluster) Create(name string) (string, error) {
	if err := c.admin("CREATE DATABASE " + name); err != nil {
		return "", err
	}
	return c.DSN(name), nil
}

// Drop drops a database that Create has created, even with connections open.
func (c *Cluster) Drop(name string) error {
	return c.admin("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)")
}

// Program returns the path of one of PostgreSQL's programs, such as psql.
func (c *Cluster) Program(name string) string { return filepath.Join(c.binDir, name) }
