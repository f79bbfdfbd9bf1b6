package reconcile

import "github.com/safrasync/safrasync/trade"

// The columns of the sections. The ids are those of the JSON, which are only ever added to (docs/json.md).
var (
	columnJob    = column{"job", phrase{"Rotina", "Job"}, TextColumn}
	columnBranch = column{"branch", phrase{"Filial", "Branch"}, CodeColumn}
	columnKey    = column{"key", phrase{"Chave no ERP", "Key in the ERP"}, CodeColumn}
	columnID     = column{"remote_id", phrase{"Id na plataforma", "Id on the platform"}, CodeColumn}
	columnState  = column{"state", phrase{"Situação", "State"}, TextColumn}

	placeColumns = []column{
		{"product", phrase{"Produto", "Product"}, TextColumn},
		{"harvest", phrase{"Safra", "Harvest"}, CodeColumn},
		{"producer", phrase{"Produtor", "Producer"}, CodeColumn},
		{"place", phrase{"Local de entrega", "Delivery place"}, CodeColumn},
		{"wallet", phrase{"Carteira", "Wallet"}, CodeColumn},
	}
	volumeColumns = []column{
		{"unit", phrase{"Un.", "Unit"}, TextColumn},
		{"amount_erp", phrase{"Volume no ERP", "Volume in the ERP"}, NumberColumn},
		{"amount_sent", phrase{"Volume enviado", "Volume sent"}, NumberColumn},
		{"kg_erp", phrase{"kg no ERP", "kg in the ERP"}, NumberColumn},
		{"kg_sent", phrase{"kg enviados", "kg sent"}, NumberColumn},
		{"kg_difference", phrase{"Diferença kg", "Difference kg"}, NumberColumn},
		{"sc_erp", phrase{"sc no ERP", "sc in the ERP"}, NumberColumn},
		{"sc_sent", phrase{"sc enviadas", "sc sent"}, NumberColumn},
	}
	standColumns = []column{
		columnState,
		{"flags", phrase{"Marcas", "Flags"}, TextColumn},
		{"reason", phrase{"Motivo", "Reason"}, TextColumn},
		{"who", phrase{"Quem resolve", "Who resolves it"}, TextColumn},
		{"sent_at", phrase{"Enviado em", "Sent at"}, TimeColumn},
		{"by", phrase{"Por", "By"}, TextColumn},
		{"basis", phrase{"Base da situação", "Basis of the state"}, TextColumn},
	}
	platformColumns = []column{
		{"kg_platform", phrase{"kg na plataforma", "kg on the platform"}, NumberColumn},
		{"value_platform", phrase{"Valor na plataforma", "Value on the platform"}, MoneyColumn},
		{"platform", phrase{"Leitura da plataforma", "Reading of the platform"}, TextColumn},
	}

	summaryColumns = []column{
		columnJob,
		{"sends", phrase{"Registros", "Records"}, TextColumn},
		{"line", phrase{"Linha", "Line"}, TextColumn},
		{"rows", phrase{"Quantidade", "Rows"}, CountColumn},
		{"role", phrase{"Papel na conta", "Role in the sum"}, TextColumn},
	}
	bridgeColumns = []column{
		columnJob,
		{"line", phrase{"Linha", "Line"}, TextColumn},
		{"rows", phrase{"Quantidade", "Rows"}, CountColumn},
		{"kg", phrase{"kg", "kg"}, NumberColumn},
		{"currency", phrase{"Moeda", "Currency"}, TextColumn},
		{"value", phrase{"Valor", "Value"}, MoneyColumn},
		{"without_weight", phrase{"Sem volume ou unidade", "Without volume or unit"}, CountColumn},
		{"role", phrase{"Papel na conta", "Role in the sum"}, TextColumn},
		{"keys", phrase{"Quais", "Which"}, CodeColumn},
	}
	totalsColumns = []column{
		{"by", phrase{"Por", "By"}, TextColumn},
		{"name", phrase{"Nome", "Name"}, CodeColumn},
		{"product", phrase{"Produto", "Product"}, TextColumn},
		{"kg_contracted", phrase{"Contratado kg", "Contracted kg"}, NumberColumn},
		{"sc_contracted", phrase{"Contratado sc", "Contracted sc"}, NumberColumn},
		{"kg_delivered", phrase{"Entregue kg", "Delivered kg"}, NumberColumn},
		{"sc_delivered", phrase{"Entregue sc", "Delivered sc"}, NumberColumn},
		{"kg_to_deliver", phrase{"Saldo a entregar kg", "To deliver kg"}, NumberColumn},
		{"sc_to_deliver", phrase{"Saldo a entregar sc", "To deliver sc"}, NumberColumn},
		{"kg_fixed", phrase{"Fixado kg", "Fixed kg"}, NumberColumn},
		{"sc_fixed", phrase{"Fixado sc", "Fixed sc"}, NumberColumn},
		{"kg_from_deposit", phrase{"dos quais de depósito kg", "of which from deposit kg"}, NumberColumn},
		{"kg_to_fix", phrase{"A fixar kg", "To fix kg"}, NumberColumn},
		{"sc_to_fix", phrase{"A fixar sc", "To fix sc"}, NumberColumn},
		{"currency", phrase{"Moeda", "Currency"}, TextColumn},
		{"value_fixed", phrase{"Valor fixado", "Fixed value"}, MoneyColumn},
		{"value_sent", phrase{"Valor fixado enviado", "Fixed value sent"}, MoneyColumn},
		{"kg_contracted_sent", phrase{"Contratado enviado kg", "Contracted, sent kg"}, NumberColumn},
		{"kg_delivered_sent", phrase{"Entregue enviado kg", "Delivered, sent kg"}, NumberColumn},
		{"kg_fixed_sent", phrase{"Fixado enviado kg", "Fixed, sent kg"}, NumberColumn},
		{"kg_dismissed", phrase{"Dispensado kg", "Dismissed kg"}, NumberColumn},
		{"rows", phrase{"Linhas", "Rows"}, CountColumn},
		{"without_unit", phrase{"Sem volume ou unidade", "Without volume or unit"}, CountColumn},
		{"without_price", phrase{"Fixadas sem preço", "Fixed without a price"}, CountColumn},
	}
	divergencesColumns = []column{
		columnJob, columnBranch, columnKey, columnID,
		{"kind", phrase{"Divergência", "Divergence"}, TextColumn},
		{"here", phrase{"Esperado", "Expected"}, NumberColumn},
		{"there", phrase{"Encontrado", "Found"}, NumberColumn},
		{"difference", phrase{"Diferença", "Difference"}, NumberColumn},
		{"unit", phrase{"Un. ou moeda", "Unit or currency"}, TextColumn},
		{"note", phrase{"Observação", "Note"}, TextColumn},
		{"product", phrase{"Produto", "Product"}, TextColumn},
		{"harvest", phrase{"Safra", "Harvest"}, CodeColumn},
		{"producer", phrase{"Produtor", "Producer"}, CodeColumn},
		{"acknowledged", phrase{"Tratada", "Dealt with"}, TextColumn},
	}
	exceptionsColumns = []column{
		{"at", phrase{"Quando", "When"}, TimeColumn},
		{"by", phrase{"Quem", "Who"}, TextColumn},
		{"act", phrase{"Decisão", "Decision"}, TextColumn},
		columnJob, columnKey,
		{"reason", phrase{"Motivo", "Reason"}, TextColumn},
		{"before", phrase{"Antes", "Before"}, TextColumn},
		{"after", phrase{"Depois", "After"}, TextColumn},
		{"audit", phrase{"Registro da auditoria", "Record of the audit"}, CountColumn},
	}
	messagesColumns = []column{
		{"message", phrase{"Chave", "Key"}, CodeColumn},
		{"count", phrase{"Vezes", "Times"}, CountColumn},
		{"last_seen_at", phrase{"Última vez", "Last seen"}, TimeColumn},
		{"known", phrase{"Tem explicação", "Has words"}, TextColumn},
		{"what", phrase{"O que significa", "What it means"}, TextColumn},
		{"who", phrase{"Quem resolve", "Who resolves it"}, TextColumn},
	}
)

func joined(lists ...[]column) []column {
	var out []column
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

var contractsColumns = joined(
	[]column{
		columnJob, columnBranch, columnKey, columnID,
		{"order_type", phrase{"Tipo", "Type"}, TextColumn},
		{"order_date", phrase{"Data", "Date"}, DayColumn},
	}, placeColumns, volumeColumns,
	[]column{
		{"currency", phrase{"Moeda", "Currency"}, TextColumn},
		{"price_erp", phrase{"Preço no ERP", "Price in the ERP"}, MoneyColumn},
		{"value_erp", phrase{"Valor no ERP", "Value in the ERP"}, MoneyColumn},
		{"value_sent", phrase{"Valor enviado", "Value sent"}, MoneyColumn},
		{"value_difference", phrase{"Diferença de valor", "Difference of value"}, MoneyColumn},
	},
	platformColumns, standColumns, toldColumns(trade.OrderCommitments),
)

var deliveriesColumns = joined(
	[]column{
		columnJob, columnBranch, columnKey, columnID,
		{"contract", phrase{"Contrato", "Contract"}, CodeColumn},
		{"delivery_date", phrase{"Data", "Date"}, DayColumn},
	}, placeColumns, volumeColumns,
	[]column{{"car", phrase{"CAR", "CAR"}, CodeColumn}}, standColumns,
)

var traceabilityColumns = joined(
	[]column{
		columnJob, columnBranch, columnKey, columnID,
		{"contract", phrase{"Contrato", "Contract"}, CodeColumn},
	}, placeColumns, volumeColumns, standColumns, toldColumns(trade.Traceability),
)
