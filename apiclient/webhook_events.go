package apiclient

// WebhookEvent is what a webhook is called for (chapter 6).
type WebhookEvent string

// The events of chapter 6.
const (
	EventCreateProducer                WebhookEvent = "CREATE_PRODUCER"
	EventUpdateProducer                WebhookEvent = "UPDATE_PRODUCER"
	EventDeleteProducer                WebhookEvent = "DELETE_PRODUCER"
	EventCreateWarehouse               WebhookEvent = "CREATE_WAREHOUSE"
	EventUpdateWarehouse               WebhookEvent = "UPDATE_WAREHOUSE"
	EventDeleteWarehouse               WebhookEvent = "DELETE_WAREHOUSE"
	EventCreateFarm                    WebhookEvent = "CREATE_FARM"
	EventUpdateFarm                    WebhookEvent = "UPDATE_FARM"
	EventDeleteFarm                    WebhookEvent = "DELETE_FARM"
	EventCreateGuestUser               WebhookEvent = "CREATE_GUEST_USER"
	EventUpdateGuestUser               WebhookEvent = "UPDATE_GUEST_USER"
	EventDeleteGuestUser               WebhookEvent = "DELETE_GUEST_USER"
	EventCreateDeliveryPlace           WebhookEvent = "CREATE_DELIVERY_PLACE"
	EventUpdateDeliveryPlace           WebhookEvent = "UPDATE_DELIVERY_PLACE"
	EventDeleteDeliveryPlace           WebhookEvent = "DELETE_DELIVERY_PLACE"
	EventCreateOrderCommitment         WebhookEvent = "CREATE_ORDER_COMMITMENT"
	EventUpdateOrderCommitment         WebhookEvent = "UPDATE_ORDER_COMMITMENT"
	EventDeleteOrderCommitment         WebhookEvent = "DELETE_ORDER_COMMITMENT"
	EventCreateWallet                  WebhookEvent = "CREATE_WALLET"
	EventUpdateWallet                  WebhookEvent = "UPDATE_WALLET"
	EventDeleteWallet                  WebhookEvent = "DELETE_WALLET"
	EventUpdateWorkflowOrderCommitment WebhookEvent = "UPDATE_WORKFLOW_ORDER_COMMITMENT"
	EventChangeProducerStatusESG       WebhookEvent = "CHANGE_PRODUCER_STATUS_ESG"
	EventChangeFarmStatusESG           WebhookEvent = "CHANGE_FARM_STATUS_ESG"
	EventProducerProduction            WebhookEvent = "PRODUCER_PRODUCTION"
)

// WebhookEvents lists the 25 valid events in the order of chapter 6.
var WebhookEvents = []WebhookEvent{
	EventCreateProducer, EventUpdateProducer, EventDeleteProducer,
	EventCreateWarehouse, EventUpdateWarehouse, EventDeleteWarehouse,
	EventCreateFarm, EventUpdateFarm, EventDeleteFarm,
	EventCreateGuestUser, EventUpdateGuestUser, EventDeleteGuestUser,
	EventCreateDeliveryPlace, EventUpdateDeliveryPlace, EventDeleteDeliveryPlace,
	EventCreateOrderCommitment, EventUpdateOrderCommitment, EventDeleteOrderCommitment,
	EventCreateWallet, EventUpdateWallet, EventDeleteWallet,
	EventUpdateWorkflowOrderCommitment,
	EventChangeProducerStatusESG, EventChangeFarmStatusESG,
	EventProducerProduction,
}
