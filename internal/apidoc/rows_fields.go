package apidoc

// dependencies are what chapter 1 requires to exist before a record is created.
var dependencies = []Row{
	row("1 order commitment", "producer, issuer, linked wallet and delivery place exist").not(Client, onlyThePlatform),
	row("1 delivery", "a known contract_id").not(Client, onlyThePlatform),
	row("1 traceability", "an existing order commitment").not(Client, onlyThePlatform),
}

const onlyThePlatform = "only the platform knows what exists"

// fieldSections are the tables of chapter 2, with what chapter 2 states about the answers.
var fieldSections = []Section{
	{"Chapter 2.1: order commitment", rowsOf("2.1", `
		amount: decimal, required
		producer_id: UUID, required
		issuer_id: UUID of a user, required
		product: enumeration of 3, required
		delivery_place_id: UUID, required
		haverst: season, spelled so, required
		unit_of_measurement: enumeration of 3, required
		order_type: enumeration of 4, required
		order_date: date, required
		wallet_id: UUID, required
		currency: enumeration of 3, for COMPRA
		price: decimal, for COMPRA
		initial_delivery_date: date, for COMPRA
		end_delivery_date: date, for COMPRA
		modality: enumeration of 4, for COMPRA
		payday: date, for COMPRA
		payment_type: enumeration of 2, for COMPRA
		answer id: UUID of the new record
		retrieval: names of the creation fields, and id
	`)},
	{"Chapter 2.2: delivery", rowsOf("2.2", `
		contract_id: text, required
		delivered_volume: number, required
		delivered_volume_unit_of_measure: enumeration of 3 in lower case, required
		delivery_date: date, required
		car: text of a shape, optional
		answer id: echoed with the record
		answer contract_id: echoed with the record
		answer delivered_volume: echoed with the record
	`)},
	{"Chapter 2.3: traceability", rowsOf("2.3", `
		producer_id: UUID, required
		user_id: UUID, required
		farm_id: UUID, optional
		allocated_volume: number, optional
		unit_of_measurement: enumeration of 3, optional
		answer id: UUID of the record
	`)},
	{"Chapter 2.4: consent", rowsOf("2.4", `
		status: text, its values not shown
		consent_date: timestamp
	`)},
	{"Chapter 2.5: credit score", rowsOf("2.5", `
		name: text, required
		social_id: CPF or CNPJ, required
		reports: list of texts, required
		car_list: list of texts, optional
		sigef_list: list of texts, optional, may be empty
		answer id: in the answer
		answer identity_id: in the answer
		answer cooperative_id: in the answer
		answer name: in the answer
		answer social_id: in the answer
		answer type: in the answer, its values not shown
		answer created_at: in the answer
	`)},
	{"Chapter 2.6: credit analysis", rowsOf("2.6", `
		requester_id: UUID, required
		requester_name: text, required
		requester_email: text, required
		name: text, required
		identity: CPF or CNPJ, required
		auth_type: text, required
		person_type: enumeration of 2, required
		period_consult: text, required
		email: text, optional
		phone: text, optional
		corporate_name: text, optional
		corporate_identity: CNPJ, optional
		answer id: UUID of the analysis
	`)},
	{"Chapter 2.7: webhook", rowsOf("2.7", `
		webhook_event: one event, required
		url: URI, required
		basic_authentication: user and password, optional
		id: UUID, returned on creation, used for removal
		hmac_secret: text, optional
	`)},
}
