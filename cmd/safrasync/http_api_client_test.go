package main

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/safrasync/safrasync/internal/must"
)

// openAPI is a client of an API that knows nothing of it but its OpenAPI document, and holds each
// request and each answer against that.
type openAPI struct {
	t        *testing.T
	address  string
	document *openapi3.T
	fill     map[string]string // what stands in the place of parameters of the path
	unseen   []string          // operation and status of each documented answer that has not come yet
}

// readOpenAPI reads the document of a server.
func readOpenAPI(t *testing.T, address, path string) *openAPI {
	t.Helper()
	status, text := get(t, address+path)
	document, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err == nil {
		err = document.Validate(t.Context())
	}
	if err != nil || status != http.StatusOK || document.OpenAPI != "3.1.0" {
		t.Fatalf("the document: %d, %v\n%s", status, err, text)
	}
	for _, schema := range document.Components.Schemas {
		closeSchema(schema.Value)
	}
	c := &openAPI{t: t, address: address, document: document}
	for _, o := range c.operations() {
		for status, answer := range o.Operation.Responses.Map() {
			c.unseen = append(c.unseen, o.Operation.OperationID+" "+status)
			for _, header := range answer.Value.Headers {
				header.Value.Required = true
			}
		}
	}
	return c
}

// closeSchema makes a property that the document does not name an error.
func closeSchema(schema *openapi3.Schema) {
	if schema.Properties != nil {
		schema.AdditionalProperties.Has = new(bool)
	}
	for _, property := range schema.Properties {
		closeSchema(property.Value)
	}
}

// operations are all operations of the document.
func (c *openAPI) operations() (all []*routers.Route) {
	for path, item := range c.document.Paths.Map() {
		for method, o := range item.Operations() {
			all = append(all,
				&routers.Route{Spec: c.document, Path: path, PathItem: item, Method: method, Operation: o})
		}
	}
	return all
}

// call calls an operation and gives the status and the body of its answer, which is as the document
// says: 400 if, and only if, the document does not allow the request. A body that begins with ? is the
// query.
func (c *openAPI) call(o *routers.Route, token, body string) (status int, text string) {
	c.t.Helper()
	path, query := o.Path, ""
	if strings.HasPrefix(body, "?") {
		query, body = body, ""
	}
	for name, value := range c.fill {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	r := must.Get(http.NewRequestWithContext(c.t.Context(), o.Method, c.address+path+query,
		strings.NewReader(body)))(c.t)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	asked := &openapi3filter.RequestValidationInput{
		Request: r, Route: o, PathParams: c.fill, Options: &openapi3filter.Options{
			AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus: true, SkipSettingDefaults: true,
		},
	}
	wrong := openapi3filter.ValidateRequest(c.t.Context(), asked)
	answer, err := http.DefaultClient.Do(r)
	must.Do(c.t, err)
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err == nil {
		err = openapi3filter.ValidateResponse(c.t.Context(), (&openapi3filter.ResponseValidationInput{
			RequestValidationInput: asked, Status: answer.StatusCode, Header: answer.Header, Options: asked.Options,
		}).SetBodyBytes(got))
	}
	refused := answer.StatusCode == http.StatusBadRequest
	if err != nil || refused != (wrong != nil) && answer.StatusCode != http.StatusTooManyRequests {
		c.t.Errorf("%s %s: the answer %d is wrong: %v; the request: %v\n%s", o.Method, body, answer.StatusCode, err,
			wrong, got)
	}
	came := o.Operation.OperationID + " " + strconv.Itoa(answer.StatusCode)
	c.unseen = slices.DeleteFunc(c.unseen, func(other string) bool { return other == came })
	return answer.StatusCode, string(got)
}
