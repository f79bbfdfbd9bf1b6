package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
)

const worldFile = "../../testdata/erp/modern-world.json"

// Ids of the sample world.
const (
	worldProducer        = "db5b5fab-8f4d-4e27-9da1-494c73cf256d"
	worldUnknownProducer = "6822a6b2-4735-4f1c-a7a1-149075139237"
	worldWallet          = "111b8aaa-62f2-4d1a-8a78-9cb3d8b9b45c"
	worldOtherWallet     = "af5570ee-d8e9-4b15-8452-ef05f542441d"
	worldUnknownWallet   = "32d03fdd-a123-4501-90f5-380e12b2a414"
	worldPlace           = "563e9bed-4510-4358-acc6-d8f2c74c7ccf"
	worldUnknownPlace    = "82450164-728a-4fcf-b03a-07b28f2df760"
	worldUser            = "c4ff64de-bb5d-4b48-bc3b-66fa30d0b194"
)

func inWorld(changes ...string) string {
	return body(append([]string{
		"producer_id", quote(worldProducer), "issuer_id", quote(worldUser),
		"wallet_id", quote(worldWallet), "delivery_place_id", quote(worldPlace),
	}, changes...)...)
}

func TestTheSampleWorldRefusesWhatThePlatformDoesNotKnow(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 rule 2")
	tests := []struct {
		name   string
		sent   string
		status int
		key    string
	}{
		{"known and linked", inWorld(), 201, ""},
		{"known and linked, in upper case", inWorld("wallet_id", quote(strings.ToUpper(worldWallet))), 201, ""},
		{"unknown producer", inWorld("producer_id", quote(worldUnknownProducer)), 404, "message.producer.not-found"},
		{"producer never heard of", inWorld("producer_id", quote(someOther)), 404, "message.producer.not-found"},
		{"unknown issuer", inWorld("issuer_id", quote(someOther)), 404, "message.user.not-found"},
		{"unknown wallet", inWorld("wallet_id", quote(worldUnknownWallet)), 404, "message.wallet.not-found"},
		{"wallet of others", inWorld("wallet_id", quote(worldOtherWallet)), 400, "message.wallet.producer-not-linked"},
		{
			"unknown place", inWorld("delivery_place_id", quote(worldUnknownPlace)), 404,
			"message.delivery-place.not-found",
		},
		{
			"producer before issuer, wallet and place",
			inWorld("producer_id", quote(someOther), "issuer_id", quote(someOther), "wallet_id", quote(someOther),
				"delivery_place_id", quote(someOther)),
			404, "message.producer.not-found",
		},
		{
			"issuer before wallet", inWorld("issuer_id", quote(someOther), "wallet_id", quote(someOther)), 404,
			"message.user.not-found",
		},
		{
			"link before place",
			inWorld("wallet_id", quote(worldOtherWallet), "delivery_place_id", quote(someOther)), 400,
			"message.wallet.producer-not-linked",
		},
		{
			"fields before prerequisites", inWorld("producer_id", quote(someOther), "payday", ""), 400,
			"message.payday.mandatory",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := must.Get(sandbox.LoadWorld(worldFile))(t)
			b := start(t, sandbox.Options{World: w})
			g := b.post(test.sent)
			if g.status != test.status || test.key != "" && g.body != messages(test.key) {
				t.Errorf("POST = %d %s, want %d %s", g.status, g.body, test.status, test.key)
			}
			b.wantCreated(map[bool]int{true: 1, false: 0}[test.key == ""])
		})
	}
}

func TestTheWorldMayChangeWhileItIsUsed(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "1 order commitment")
	b := start(t, sandbox.Options{World: sandbox.NewWorld()})
	steps := []struct {
		key    string
		change func()
	}{
		{"message.producer.not-found", func() { b.Know(sandbox.Producers, producer) }},
		{"message.user.not-found", func() { b.Know(sandbox.Users, strings.ToUpper(issuer)) }},
		{"message.wallet.not-found", func() { b.Know(sandbox.Wallets, wallet) }},
		{"message.wallet.producer-not-linked", func() { b.LinkWallet(wallet, producer) }},
		{"message.delivery-place.not-found", func() { b.Know(sandbox.DeliveryPlaces, place) }},
	}
	for _, step := range steps {
		if g := b.post(body()); g.body != messages(step.key) {
			t.Fatalf("POST = %d %s, want %s", g.status, g.body, step.key)
		}
		step.change()
	}
	if g := b.post(body()); g.status != 201 {
		t.Fatalf("POST = %d %s", g.status, g.body)
	}
	b.UnlinkWallet(wallet, producer)
	if g := b.post(body()); g.body != messages("message.wallet.producer-not-linked") {
		t.Errorf("POST = %d %s", g.status, g.body)
	}
}

func TestAWorldFileIsReadStrictly(t *testing.T) {
	t.Parallel()
	const (
		a = `"` + producer + `"`
		w = `"` + wallet + `"`
	)
	tests := map[string]struct{ text, want string }{
		"syntax":            {"{\n\"producers\": [,]\n}", "this is no JSON: "},
		"not UTF-8":         {"{\n\n\"\xff\":[]}", "the text is not UTF-8"},
		"no object":         {"[]", "want an object"},
		"unknown list":      {"{\n\"producer\": []}", `"producer" is not a list`},
		"no list":           {`{"users":{}}`, "users: want an array, not an object"},
		"no object in list": {"{\"users\":[\n5]}", "users[0]: want an object, not a number"},
		"unknown member": {
			`{"wallets":[{"wallet_id":` + w + `,"known":true,"name":"x"}]}`,
			`wallets[0]: the member "name" is unknown`,
		},
		"missing member": {`{"wallets":[{"wallet_id":` + w + `}]}`, `wallets[0]: the member "known" is missing`},
		"known as text": {
			`{"wallets":[{"wallet_id":` + w + `,"known":"yes"}]}`,
			`wallets[0].known: want true or false, not "yes"`,
		},
		"no UUID":         {`{"farms":[{"farm_id":"7","known":true}]}`, `farms[0].farm_id: want a UUID with hyphens, not "7"`},
		"a number for it": {`{"farms":[{"farm_id":7,"known":true}]}`, `farms[0].farm_id: want a UUID with hyphens, not 7`},
		"a list for it": {
			`{"farms":[{"farm_id":[],"known":true}]}`, `farms[0].farm_id: want a UUID with hyphens, not an array`,
		},
		"a long text for it": {
			`{"farms":[{"farm_id":"` + strings.Repeat("é", 99) + `","known":true}]}`,
			`not "` + strings.Repeat("é", 60) + `"…`,
		},
		"empty document": {
			`{"producers":[{"producer_id":` + a + `,"document":"","known":true}]}`,
			"producers[0].document: want a text",
		},
		"id twice": {`{"users":[{"user_id":` + a + `,"known":true},` + "\n" + `{"user_id":` + a +
			`,"known":false}]}`, "users[1].user_id: this id stands twice in the list: " + a},
		"link to nowhere": {
			`{"wallet_producer_links":[{"wallet_id":` + w + `,"producer_id":` + a + `}]}`,
			"wallet_producer_links[0].wallet_id: this id is not in the list wallets: " + w,
		},
		"link twice": {`{"wallet_producer_links":[` + doubled(`{"wallet_id":`+w+`,"producer_id":`+a+`}`) +
			`],"wallets":[{"wallet_id":` + w + `,"known":true}],"producers":[{"producer_id":` + a +
			`,"document":"1","known":true}]}`, "wallet_producer_links[1]: this link stands twice"},
		"more than one text": {"{}\n{}", "this is no JSON: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "world.json")
			must.Do(t, os.WriteFile(path, []byte(test.text), 0o600))
			_, err := sandbox.LoadWorld(path)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Fatalf("LoadWorld = %v, want the file and %q", err, test.want)
			}
			told := i18n.ErrorText(i18n.Portuguese, err) // only what encoding/json says of a wrong character is quoted
			if told == err.Error() || strings.Contains(told, "“") && test.want != "this is no JSON: " {
				t.Errorf("in Portuguese: %q", told)
			}
		})
	}
	if _, err := sandbox.LoadWorld(filepath.Join(t.TempDir(), "absent.json")); err == nil ||
		!strings.Contains(err.Error(), "absent.json") {
		t.Errorf("LoadWorld of an absent file = %v", err)
	}
}

func doubled(text string) string { return text + "," + text }
