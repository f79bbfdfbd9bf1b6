package httpapi

import (
	"encoding/json"
	"net/http"
)

func (a *API) status(w http.ResponseWriter, r *http.Request, _ Token) {
	jobs, err := a.Engine.Status(r.Context())
	if err != nil {
		a.broken(w, r, err)
		return
	}
	if jobs == nil {
		jobs = []json.RawMessage{}
	}
	a.answer(w, http.StatusOK, struct {
		Jobs []json.RawMessage `json:"jobs"`
	}{jobs})
}
