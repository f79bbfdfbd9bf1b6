package sandbox

// phrase is a text for people in the two languages of the inspection page.
type phrase struct{ pt, en string }

// remarkWords are the texts of all remarks. A new code goes here first: [RemarkCodes] and the page read this.
var remarkWords = map[string]phrase{
	remarkUnknownMember:    {"o documento da API não conhece este membro; foi ignorado", "the API document does not know this member; it was ignored"},
	remarkTwice:            {"veio duas vezes; valeu o último no corpo, o primeiro na consulta", "came twice; the last counted in a body, the first in a query"},
	remarkNull:             {"null contou como ausente", "null counted as absent"},
	remarkEmpty:            {"está vazio", "is empty"},
	remarkNotPositive:      {"não é maior que zero", "is not above zero"},
	remarkExponent:         {"número escrito com expoente", "a number written with an exponent"},
	remarkDateOrder:        {"a entrega termina antes de começar", "the delivery ends before it begins"},
	remarkDocument:         {"não tem a forma de CPF nem de CNPJ", "has the form of neither CPF nor CNPJ"},
	remarkOtherValue:       {"o documento da API não mostra este valor", "the API document does not show this value"},
	remarkUnknownParameter: {"o documento da API não conhece este parâmetro; foi ignorado", "the API document does not know this parameter; it was ignored"},
	remarkKeyBlank:         {"a chave contém espaço; os exemplos do documento não usam prefixo como Bearer", "the key holds a blank; the requests shown use no prefix such as Bearer"},
	remarkHeaderTwice:      {"cabeçalho repetido; valeu o primeiro", "a header that came twice; the first counted"},
	remarkContentType:      {"Content-Type com parâmetro que não é charset=utf-8; foi lido como UTF-8", "a Content-Type with a parameter other than charset=utf-8; read as UTF-8"},
	remarkCompressed:       {"o documento não fala de corpos comprimidos; os bytes foram lidos como vieram", "the document does not speak of compressed bodies; the bytes were read as they came"},
	remarkIdempotency:      {"a API não conhece idempotência: repetir cria de novo", "the API knows no idempotency: a repetition creates again"},
	remarkContract:         {"este contrato não foi criado nesta sandbox", "this contract was not created in this sandbox"},
	remarkEventAgain:       {"segundo webhook para o mesmo evento; o documento não diz o que a plataforma faz", "a second webhook for the same event; the document does not say what the platform does"},
	remarkURLScheme:        {"a plataforma exige https; http vale só nesta máquina", "the platform wants https; http will do on this host only"},
	remarkCredentials:      {"não tem a forma <usuário>:<senha>", "has not the form <user>:<password>"},
	remarkCredentialsGone:  {"havia um segredo e a alteração não o trouxe: foi removido", "there was a secret and the update did not bring it: it was removed"},
}
