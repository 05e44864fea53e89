// Package produce sends records to the leaders of their partitions.
//
// What an actor does waits for acknowledgements, several in a row, so what
// counts here is how little lies between a record and the wire. Whoever sends a
// record that nothing is before writes the request itself, and the goroutine that
// reads the answer tells how its records have ended; sarama's AsyncProducer hands
// a record from goroutine to goroutine five times on the way out and twice on the
// way back.
//
//	Producer --- topic --- partition: what is queued, and the batch that is out
//	    |          |
//	    |        seeker: finds leaders and identities, while one is missing
//	    |
//	  lane, one for each broker: a request at a time, with a batch of every
//	        partition that has something to send
//
// A partition has one batch out, so its records keep their order, and a batch that
// may have landed is sent again as it was, under the same identity and number, so
// that a broker knows it. A broker has one request out; what comes meanwhile
// gathers, and goes out together: the slower the broker, the larger the batches.
package produce
