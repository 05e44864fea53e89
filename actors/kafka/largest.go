package kafka

import "github.com/IBM/sarama"

// largest is the size in bytes of the largest record, or batch.
func (c *Config) largest() int {
	if c.Sarama != nil {
		return c.Sarama.Producer.MaxMessageBytes
	}
	return sarama.NewConfig().Producer.MaxMessageBytes
}
