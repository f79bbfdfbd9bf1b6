package console

import "github.com/safrasync/safrasync/console/web"

// AtOnce is how many requests are worked on at once.
const AtOnce = maxRequests

// Routes lists all routes.
func (c *Console) Routes() []web.Route { return c.routes() }
