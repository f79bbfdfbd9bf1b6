package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
)

// readingOnly opens connections that cannot write. The setting follows the connection: as one of its
// parameters the driver would take it for the server's own, and target_session_attrs=read-write would
// find no server.
type readingOnly struct{ driver.Connector }

// Connect opens one connection.
func (c readingOnly) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	session, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the driver cannot set a session"), conn.Close())
	}
	if _, err := session.ExecContext(ctx, "SET default_transaction_read_only = on", nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
