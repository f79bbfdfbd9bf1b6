package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// openAPI is a client of an API that knows nothing of it but its OpenAPI document: it makes
// requests from the schemas, and holds each answer against the schema of its status.
type openAPI struct {
	t        *testing.T
	address  string
	document map[string]any
	seen     map[string]bool // operation and status of each answer
}

// readOpenAPI reads the document of a server.
func readOpenAPI(t *testing.T, address, path string) *openAPI {
	t.Helper()
	c := &openAPI{t: t, address: address, seen: map[string]bool{}}
	status, text := get(t, address+path)
	if err := json.Unmarshal([]byte(text), &c.document); err != nil || status != http.StatusOK {
		t.Fatalf("the document: %d, %v\n%s", status, err, text)
	}
	if version := c.document["openapi"]; version != "3.1.0" {
		t.Errorf("the document is of OpenAPI %v", version)
	}
	return c
}

// valueAt is a place in a document.
func valueAt(node any, path ...string) any {
	for _, name := range path {
		object, _ := node.(map[string]any)
		node = object[name]
	}
	return node
}

// follow gives what a reference leads to.
func (c *openAPI) follow(node any) map[string]any {
	object, _ := node.(map[string]any)
	if name, ok := object["$ref"].(string); ok {
		found := valueAt(c.document, strings.Split(strings.TrimPrefix(name, "#/"), "/")...)
		if found == nil {
			c.t.Fatalf("the document has no %s", name)
		}
		return c.follow(found)
	}
	return object
}

// apiOperation is one operation of the document.
type apiOperation struct {
	id, method, path string
	node             map[string]any
}

// operations are all operations of the document.
func (c *openAPI) operations() []apiOperation {
	var out []apiOperation
	paths, _ := c.document["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		methods, _ := paths[path].(map[string]any)
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			node := c.follow(methods[method])
			out = append(out, apiOperation{fmt.Sprint(node["operationId"]), strings.ToUpper(method), path, node})
		}
	}
	return out
}

// body is the schema of an operation's request; nil when it has none.
func (c *openAPI) body(o apiOperation) map[string]any {
	schema := valueAt(o.node, "requestBody", "content", "application/json", "schema")
	if schema == nil {
		return nil
	}
	return c.follow(schema)
}

// call calls an operation and gives the status and the body of its answer, which is as the document
// says.
func (c *openAPI) call(o apiOperation, token string, body any) (int, map[string]any) {
	c.t.Helper()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), o.method, c.address+o.path, sent)
	if err != nil {
		c.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	var value map[string]any
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		c.t.Fatalf("%s %s: %d %v\n%s", o.method, o.path, answer.StatusCode, err, text)
	}
	status := strconv.Itoa(answer.StatusCode)
	c.seen[o.id+" "+status] = true
	documented := c.follow(valueAt(o.node, "responses", status))
	if documented == nil {
		c.t.Errorf("%s answers %s, which the document does not have: %s", o.id, status, text)
		return answer.StatusCode, value
	}
	headers, _ := documented["headers"].(map[string]any)
	for name, header := range headers {
		n, err := strconv.Atoi(answer.Header.Get(name))
		if err != nil {
			c.t.Errorf("%s %s: the header %s: %v", o.id, status, name, err)
		}
		c.valid(o.id+" "+status+" "+name, valueAt(header, "schema"), float64(n))
	}
	c.valid(o.id+" "+status, valueAt(documented, "content", "application/json", "schema"), value)
	return answer.StatusCode, value
}

// unseen are the documented answers that never came.
func (c *openAPI) unseen() []string {
	var out []string
	for _, o := range c.operations() {
		responses, _ := o.node["responses"].(map[string]any)
		for status := range responses {
			if !c.seen[o.id+" "+status] {
				out = append(out, o.id+" "+status)
			}
		}
	}
	slices.Sort(out)
	return out
}

// valid holds a value against a schema. A keyword that it does not know is an error of the test; a
// property that the schema does not name is one of the document.
func (c *openAPI) valid(place string, schema, value any) {
	c.t.Helper()
	if problem := c.check(place, schema, value); problem != "" {
		c.t.Error(problem)
	}
}

func (c *openAPI) check(place string, schema, value any) string {
	node := c.follow(schema)
	for _, keyword := range slices.Sorted(maps.Keys(node)) {
		limit := node[keyword]
		problem := ""
		switch keyword {
		case "description", "default", "required", "additionalProperties", "example":
		case "properties":
			problem = c.object(place, node, value)
		case "type":
			problem = ofType(place, limit, value)
		case "enum":
			if list, _ := limit.([]any); !slices.Contains(list, value) {
				problem = fmt.Sprintf("%s is %v, none of %v", place, value, list)
			}
		case "anyOf":
			list, _ := limit.([]any)
			if !slices.ContainsFunc(list, func(s any) bool { return c.check(place, s, value) == "" }) {
				problem = fmt.Sprintf("%s is %v, as none of %v", place, value, list)
			}
		case "items":
			list, _ := value.([]any)
			for i, item := range list {
				if problem == "" {
					problem = c.check(fmt.Sprintf("%s[%d]", place, i), limit, item)
				}
			}
		case "propertyNames":
			object, _ := value.(map[string]any)
			for name := range object {
				if problem == "" {
					problem = c.check(place+" (name)", limit, name)
				}
			}
		case "minimum":
			if n, isNumber := value.(float64); isNumber && n < limit.(float64) {
				problem = fmt.Sprintf("%s is %v, below %v", place, value, limit)
			}
		case "minLength":
			if text, isText := value.(string); isText && float64(len(text)) < limit.(float64) {
				problem = fmt.Sprintf("%s is %q, shorter than %v", place, text, limit)
			}
		case "format":
			if text, isText := value.(string); isText {
				if _, err := time.Parse(time.RFC3339Nano, text); limit != "date-time" || err != nil {
					problem = fmt.Sprintf("%s is no %v: %v", place, limit, err)
				}
			}
		default:
			c.t.Fatalf("%s: the client does not know the keyword %s", place, keyword)
		}
		if problem != "" {
			return problem
		}
	}
	if _, named := node["properties"]; !named && node["additionalProperties"] != nil {
		return c.object(place, node, value)
	}
	return ""
}

// object holds the properties of an object against a schema.
func (c *openAPI) object(place string, node map[string]any, value any) string {
	object, isObject := value.(map[string]any)
	if !isObject {
		return "" // the type decides
	}
	properties, named := node["properties"].(map[string]any)
	required, _ := node["required"].([]any)
	for _, name := range required {
		if _, there := object[name.(string)]; !there {
			return fmt.Sprintf("%s has no %s", place, name)
		}
	}
	for name, item := range object {
		schema, known := properties[name]
		if other, isSchema := node["additionalProperties"].(map[string]any); !known && isSchema {
			schema, known = other, true
		}
		switch {
		case known:
			if problem := c.check(place+"."+name, schema, item); problem != "" {
				return problem
			}
		case named:
			return fmt.Sprintf("%s has the property %s, which the document does not name", place, name)
		}
	}
	return ""
}

// ofType tells whether a value is of a type, or of one of a list.
func ofType(place string, types, value any) string {
	list, several := types.([]any)
	if !several {
		list = []any{types}
	}
	is := "null"
	switch v := value.(type) {
	case string:
		is = "string"
	case bool:
		is = "boolean"
	case float64:
		if is = "number"; v == float64(int64(v)) {
			is = "integer"
		}
	case []any:
		is = "array"
	case map[string]any:
		is = "object"
	}
	if !slices.Contains(list, any(is)) {
		return fmt.Sprintf("%s is %s, want %v", place, is, list)
	}
	return ""
}

// right makes an object as a schema wants it: with what is required, or with everything. given are
// values of this installation.
func (c *openAPI) right(schema map[string]any, everything bool, given map[string]any) map[string]any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for name, node := range properties {
		value, known := given[name]
		if !known {
			value = map[string]any{"boolean": true, "string": "text", "integer": 1}[fmt.Sprint(c.follow(node)["type"])]
		}
		if everything || slices.Contains(required, any(name)) {
			out[name] = value
		}
	}
	c.valid("what the client sends", schema, jsonOf(c.t, out))
	return out
}

// wrong makes objects that a schema does not allow, each by what is wrong with it.
func (c *openAPI) wrong(schema map[string]any, given map[string]any) map[string]any {
	out := map[string]any{"no object": []string{"text"}}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for name, node := range properties {
		other := c.right(schema, true, given)
		other[name] = map[string]any{"in": "an object"}
		out[name+" of another type"] = other
		if slices.Contains(required, any(name)) {
			without := c.right(schema, true, given)
			delete(without, name)
			out["without "+name] = without
		}
		if c.follow(node)["minLength"] != nil {
			short := c.right(schema, true, given)
			short[name] = ""
			out["an empty "+name] = short
		}
	}
	if schema["additionalProperties"] == false {
		more := c.right(schema, true, given)
		more["unheard_of"] = 1
		out["an unknown property"] = more
	}
	return out
}

// jsonOf is a value as it arrives.
func jsonOf(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	var out any
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
