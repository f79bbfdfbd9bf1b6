package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/uuid"
)

// demoID is the platform's id of something: the same in each demo, and in no other place.
func demoID(kind, code string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("safrasync demo "+kind+" "+code)).String()
}

// demoTable is a small table of the sample ERP.
type demoTable struct {
	name string
	rows [][]string
}

func demoTables() []demoTable {
	first := []string{"Antônio", "Maria", "José", "Ivete", "Darci", "Neusa", "Valdir", "Irene", "Célio", "Rosane", "Arlindo", "Marli", "Otávio", "Lurdes"}
	last := []string{"Zanatta", "Ferreira", "Kunz", "Bortolini", "Moraes", "Schmitt", "Peruzzo", "Camargo"}
	producers, refs := demoTable{name: "produtor"}, demoTable{name: "de_para"}
	for i := 1; i <= demoProducers+3; i++ {
		code := fmt.Sprintf("P%03d", i)
		name := first[i%len(first)] + " " + last[(i/len(first)+3*i)%len(last)]
		producers.rows = append(producers.rows, []string{code, "01", name})
		if code != demoProducerNoRef {
			refs.rows = append(refs.rows, []string{"produtor", code, "01", demoID("produtor", code)})
		}
	}
	named := func(table, kind, letter string, names []string, without string) demoTable {
		t := demoTable{name: table}
		for i, name := range names {
			code := fmt.Sprintf(letter, i+1)
			t.rows = append(t.rows, []string{code, name})
			if kind != "" && code != without {
				refs.rows = append(refs.rows, []string{kind, code, "", demoID(kind, code)})
			}
		}
		return t
	}
	towns := []string{"Serra do Sabiá", "Rio da Várzea", "Campo do Ipê", "Três Paineiras", "Lagoa das Garças"}
	places := append(append([]string{}, "Silo Serra do Sabiá", "Silo Rio da Várzea", "Silo Campo do Ipê", "Silo Três Paineiras", "Silo Lagoa das Garças"),
		"Silo Água Nova", "Armazém do Porto")
	return []demoTable{
		named("filial", "", "%02d", towns, ""),
		producers,
		named("carteira", "carteira", "C%02d", []string{"Norte", "Sul", "Leste", "Oeste", "Serra", "Várzea", "Grandes produtores", "Consultoria externa"}, demoWalletNoRef),
		named("local_entrega", "local", "L%02d", places, demoPlaceNoRef),
		named("fazenda", "fazenda", "F%02d", []string{"Santa Lúcia", "Boa Esperança", "Três Lagoas", "Recanto", "São Roque", "Cachoeira", "Nova Aliança"}, demoFarmNoRef),
		named("usuario", "usuario", "U%d", []string{"Comercial Serra", "Comercial Várzea", "Comercial Ipê"}, ""),
		refs,
	}
}

// writeDemoWorld writes what the platform knows, in the form that `safrasync sandbox --world` reads.
func writeDemoWorld(path string) error {
	world := map[string][]map[string]any{}
	add := func(list, name, kind, code string, known bool) {
		item := map[string]any{name: demoID(kind, code), "known": known}
		if list == "producers" {
			item["document"] = "sample " + code
		}
		world[list] = append(world[list], item)
	}
	link := func(wallet, producer string) {
		world["wallet_producer_links"] = append(world["wallet_producer_links"],
			map[string]any{"wallet_id": demoID("carteira", wallet), "producer_id": demoID("produtor", producer)})
	}
	for i := 1; i <= demoProducers; i++ {
		code := fmt.Sprintf("P%03d", i)
		add("producers", "producer_id", "produtor", code, true)
		link(demoWalletOf(i), code)
		link(demoWalletNoRef, code)
	}
	add("producers", "producer_id", "produtor", demoProducerUnknown, false)
	add("producers", "producer_id", "produtor", demoProducerNoLink, true)
	for i := 1; i <= demoWallets; i++ {
		add("wallets", "wallet_id", "carteira", fmt.Sprintf("C%02d", i), true)
	}
	add("wallets", "wallet_id", "carteira", demoWalletNoRef, true)
	add("wallets", "wallet_id", "carteira", demoWalletUnknown, false)
	for i := 1; i <= demoPlaces; i++ {
		add("delivery_places", "delivery_place_id", "local", fmt.Sprintf("L%02d", i), true)
	}
	add("delivery_places", "delivery_place_id", "local", demoPlaceNoRef, true)
	add("delivery_places", "delivery_place_id", "local", demoPlaceUnknown, false)
	for i := 1; i <= 3; i++ {
		add("users", "user_id", "usuario", fmt.Sprintf("U%d", i), true)
	}
	for i := 1; i <= demoFarms; i++ {
		add("farms", "farm_id", "fazenda", fmt.Sprintf("F%02d", i), true)
	}
	add("farms", "farm_id", "fazenda", demoFarmNoRef, true)
	data, err := json.MarshalIndent(world, "", " ")
	if err != nil { // unreachable: plain data
		return fmt.Errorf("write the demo's world: %w", err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the demo's world: %w", err)
	}
	return nil
}
