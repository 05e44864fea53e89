package kafkaflag

import "github.com/xdg-go/scram"

// conversation is one login with SCRAM, as sarama wants it.
type conversation struct {
	hash scram.HashGeneratorFcn
	*scram.ClientConversation
}

// Begin prepares it.
func (c *conversation) Begin(user, password, authorization string) error {
	client, err := c.hash.NewClient(user, password, authorization)
	if err != nil {
		return err
	}
	c.ClientConversation = client.NewConversation()
	return nil
}
