package setup

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The words by which `init` recognises a column. An entry matches a column with exactly this name,
// or with all its words. The most likely come first. Names are in the form of nameWords: lower
// case, without accents, without the prefix of a Protheus table (NJR_CODCTR is codctr).
var fieldNames = map[string][]string{
	"amount": {
		"quantidade", "quantidade_contratada", "qtde", "qtd", "qtd_contratada", "qt_contratada",
		"quantity", "amount", "volume_contratado", "volume", "qtdctr", "qtdori", "peso",
	},
	"producer_id": {
		"produtor", "produtor_id", "cod_produtor", "producer", "producer_id", "cooperado",
		"associado", "cod_emitente", "codent", "entidade", "fornecedor", "codfor", "fornece",
	},
	"issuer_id": {
		"emissor", "emissor_id", "usuario_emissor", "issuer", "usuario", "cod_usuario",
		"vendedor", "comprador", "originador", "consultor", "user",
	},
	"user_id": {"usuario", "usuario_id", "cod_usuario", "user", "user_id", "responsavel", "consultor"},
	"product": {
		"produto", "cod_produto", "it_codigo", "product", "commodity", "grao", "codpro",
		"mercadoria", "cultura",
	},
	"delivery_place_id": {
		"local_entrega", "local_entrega_id", "delivery_place", "cod_local", "local", "silo",
		"armazem", "unidade_entrega", "unidade_recebimento", "locent", "filent",
	},
	"haverst": {"safra", "cod_safra", "ano_safra", "harvest", "haverst", "crop_year", "codsaf"},
	"unit_of_measurement": {
		"unidade_medida", "unidade_de_medida", "um", "un", "unid", "unidade", "unit",
		"unit_of_measurement", "uom", "um1pro", "unimed",
	},
	"order_type": {
		"tipo", "tipo_contrato", "tp_contrato", "tipo_negociacao", "tipo_negocio", "order_type",
		"tipctr", "tpctr", "tipfix",
	},
	"order_date": {
		"emissao", "data_emissao", "dt_emissao", "data_contrato", "dt_contrato",
		"data_negociacao", "data_fechamento", "order_date", "contract_date", "datemi", "dtctr", "data",
	},
	"wallet_id": {"carteira", "carteira_id", "cod_carteira", "wallet", "wallet_id", "portfolio"},
	"currency":  {"moeda", "cod_moeda", "currency"},
	"price": {
		"preco", "preco_unitario", "price", "unit_price", "valor_unitario", "vlr_unitario",
		"vl_unitario", "vlrbas", "vlruni", "preco_saca",
	},
	"initial_delivery_date": {
		"entrega_inicio", "inicio_entrega", "entrega_ini", "ini_entrega", "data_inicio_entrega",
		"dt_inicio_entrega", "dt_ini_entrega", "entrega_de", "delivery_start", "initial_delivery_date",
		"entini", "dtient",
	},
	"end_delivery_date": {
		"entrega_fim", "fim_entrega", "data_fim_entrega", "dt_fim_entrega", "dt_final_entrega",
		"entrega_ate", "delivery_end", "end_delivery_date", "entfim", "dtfent",
	},
	"modality": {"modalidade", "cod_modalidade", "modality", "modali"},
	"payday": {
		"data_pagamento", "dt_pagamento", "dt_pagto", "data_pagto", "payday", "payment_date",
		"vencimento", "data_vencimento", "dt_vencimento", "dtpag", "dtvenc", "pagamento",
	},
	"payment_type": {
		"forma_pagamento", "forma_pagto", "forma_pgto", "tipo_pagamento", "payment_type",
		"formapag", "condicao_pagamento",
	},

	"delivered_volume": {
		"volume_liquido", "peso_liquido", "quantidade_liquida", "qt_liquida",
		"volume_entregue", "quantidade_entregue", "delivered_volume", "net_weight", "pesliq", "psliqu",
		"quantidade", "volume",
	},
	"delivered_volume_unit_of_measure": {"unidade_medida", "um", "un", "unid", "unidade", "unit", "uom", "um1pro"},
	"delivery_date": {
		"data_entrega", "dt_entrega", "delivery_date", "data_pesagem", "data_romaneio",
		"dt_romaneio", "data_ticket", "dt_ticket", "emissao", "data",
	},
	"car":                 {"car", "numero_car", "cod_car", "car_imovel"},
	"contract_id":         contractNames,
	"order_commitment_id": contractNames,
	"farm_id": {
		"fazenda", "fazenda_id", "cod_fazenda", "propriedade", "imovel", "farm",
		"farm_id",
	},
	"allocated_volume": {
		"volume", "volume_alocado", "quantidade", "qtde", "qt_rateada",
		"allocated_volume",
	},
}

// contractNames are names of columns of a child that hold its contract.
var contractNames = []string{
	"contrato", "contrato_id", "num_contrato", "numero_contrato", "nr_contrato",
	"cod_contrato", "codctr", "contract", "contract_id",
}

// Names of columns that have a role in a job.
var (
	keyNames = []string{
		"numero", "numero_contrato", "num_contrato", "nr_contrato", "contrato", "cod_contrato",
		"codctr", "num", "ticket", "romaneio", "codrom", "contract_number", "number",
		"filial", "cod_filial", "filial_id", "branch", "estabelecimento", "cod_estabel", "empresa",
		"unidade_negocio", "item", "linha", "sequencia", "seq", "line",
	}
	changedNames = []string{
		"alterado_em", "atualizado_em", "modificado_em", "updated_at", "changed_at", "modified_at",
		"data_alteracao", "dt_alteracao", "dt_ult_alteracao", "ultima_alteracao", "ultalt", "last_update", "s_t_a_m_p",
	}
	statusNames = []string{"situacao", "status", "cancelado", "canceled", "cancelled", "sit", "stat", "situac"}
	flagNames   = append([]string{
		"ativo", "inativo", "active", "estornado", "estorno", "anulado", "bloqueado", "encerrado",
		"d_e_l_e_t", "excluido_em", "deletado_em", "deleted_at", "data_exclusao", "dt_exclusao",
		"excluido", "deletado", "deleted",
	}, statusNames...)
)

var camelHump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// nameWords splits a name into words, in lower case and without accents: at underscores, blanks,
// hyphens and changes from lower to upper case.
func nameWords(name string) []string {
	name = camelHump.ReplaceAllString(name, "${1}_${2}")
	return strings.FieldsFunc(plainWord(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// plainWord returns a text in lower case without accents.
func plainWord(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(text))
}

var protheusPrefix = regexp.MustCompile(`^[A-Za-z0-9]{2,3}_`)

// commonPrefix returns the prefix that most columns of a Protheus table share, such as NJR_; "" for
// other tables.
func commonPrefix(columns []string) string {
	count := map[string]int{}
	for _, c := range columns {
		if p := protheusPrefix.FindString(c); p != "" {
			count[strings.ToUpper(p)]++
		}
	}
	for p, n := range count {
		if n >= 4 && n*10 >= len(columns)*7 {
			return p
		}
	}
	return ""
}

// bareName returns a column name without the common prefix.
func bareName(column, prefix string) string {
	if prefix != "" && len(column) > len(prefix) && strings.EqualFold(column[:len(prefix)], prefix) {
		return column[len(prefix):]
	}
	return column
}

// likeness returns how well a column's words match a list of names; 0 means not at all.
func likeness(words, names []string) int {
	joined, best := strings.Join(words, "_"), 0
	for i, name := range names {
		parts := strings.Split(name, "_")
		switch {
		case joined == name, strings.Join(words, "") == strings.Join(parts, ""):
			best = max(best, 1000-i)
		case containsAll(words, parts):
			best = max(best, 500-10*i-(len(words)-len(parts)))
		}
	}
	return best
}

func containsAll(words, parts []string) bool {
	for _, p := range parts {
		if !slices.Contains(words, p) {
			return false
		}
	}
	return true
}
