// Package kafka is a log of actors on Apache Kafka: the log of a cluster.
//
// # The problem
//
// Actors are as safe as their log. On Kafka that hangs on settings that are easy
// to get wrong, most of them silently: acknowledgements that one broker can
// lose, records that expire, time that is the sender's, a producer that gives up
// before an election has ended. And a client that is right may still be slow: a
// consumer that is stalled by one of its partitions, a producer behind a long
// poll.
//
// # The promise
//
//   - Topics are made by [Setup] with all the settings that matter, and looked at
//     by [Open], which refuses what is not as it must be, and says which setting
//     of which topic, what it is, what it must be, and the command that mends it.
//     While a Log is open it looks again every minute, and Health tells.
//   - An acknowledged entry is on the brokers that min.insync.replicas asks for.
//     Appends outlast an election, keep their order, and are not doubled by the
//     producer unless the brokers have forgotten what they had of it: then an entry
//     may be there twice, which actors take into account.
//   - A snapshot that Save has returned for is never lost, whatever others save
//     and delete at the same time.
//   - A reader that is behind, new or slow holds up no other one. What it has not
//     been asked for is bounded.
//   - What goes wrong is tried again and told by [Log.Health]; it never ends the
//     process.
//   - Who answers waits for nobody. An answer that is lost, on a topic or on a
//     connection, is asked for again, under the same id.
//
// # Topics
//
// For an application "bank" with a type "account":
//
//	bank.account        the log: LogAppendTime, nothing expires, cut off below
//	                    snapshots; what the consumer group bank.owners assigns
//	bank.account.state  snapshots, compacted, partition by partition
//	bank.members        beats of the processes, one partition
//	bank.replies        answers to callers, kept for minutes
//	bank.dead           dead letters
//
// The partition of an actor is that which Kafka's own clients choose for its id
// as a key, so programs in other languages can address it.
//
// # Direct answers
//
// An answer need not be on record. With Config.Direct it goes over a connection
// instead of a topic, which saves about a third of the time of a call:
//
//	config.Direct = &kafka.Direct{
//		Listen: ":7000", Advertise: podIP + ":7000", // nothing for processes that host no actors
//		TLS: certificates, Token: secret,
//	}
//
// Processes that host actors tell the address in their beats. Whoever waits for
// answers reads the beats, as a member or not, and keeps one connection to each
// of them. An answer goes over the connection of the process that waits for it; if
// there is none, or it is behind or has just broken, over bank.replies. So
// processes with and without Direct, and clients that cannot reach an owner, work
// together. The promises are the same: answers are made of applied records only,
// they may be lost or come twice, and a client that got none asks again, after
// 1 s.
//
// Both sides prove, before the first answer, that they know the token, and that
// they are of the same App. Connections that are too many, silent for 5 s before
// that proof, or send what they should not are closed; Health counts them. Sides
// that do not hear from each other for 4 s close the connection, and clients
// connect again after 50 ms to 2 s, for as long as the beats tell that the owner
// is there.
//
// # Defaults
//
//	Partitions       16         of a type; fixed for ever when its topics are made
//	Replication      3
//	MinInSync        2          Replication - 1, at least 1
//	ReplyPartitions  8
//	ReplyRetention   10 min
//	DeadRetention    30 days
//	SuspectAfter     600 ms     of silence; then others take over
//	Session          10 s       the group's own, if nobody else is there
//	QueueBytes       64 MiB     that wait for the brokers, each: appends; those to
//	                            types that were not looked at yet; snapshots and
//	                            messages; messages published exactly once
//	ReadBytes        8 MiB      that wait in a reader
//	Connections      4,096      of clients to one process, with Config.Direct; 1 MiB
//	                            may wait in each
//	largest entry    1 MiB      Sarama.Producer.MaxMessageBytes
//	retries          20 s       50 ms apart
//
// # Example
//
//	config := kafka.Config{App: "bank", Brokers: []string{"kafka-1:9092", "kafka-2:9092"}}
//	if err := kafka.Setup(ctx, config, Account.Name()); err != nil { ... } // in a deployment step, or at every start
//	log, err := kafka.Open(ctx, config)
//	...
//	defer log.Close()
//	node, err := actors.Open(ctx, actors.Config{Name: "bank-1"}, log, hosting)
//
// TLS, SASL and the version of the protocol come from Config.Sarama:
//
//	c := sarama.NewConfig()
//	c.Producer.RequiredAcks = sarama.WaitForAll // sarama's default is less, and is refused
//	c.Net.TLS.Enable = true
//	config.Sarama = c
//
// # Ordinary topics
//
// A Log has ordinary topics under their own names: actors publish to them, at
// least once, with headers that tell copies from messages (actors.Message), and
// ingest them, each message once (actors.Hosting.Ingest). What is ingested is
// committed: messages of aborted transactions are left out. [Log.DeadLetters]
// goes through the dead letters.
//
// They are yours to make: [Setup] makes none, and none is made by writing to it.
// Messages to one that is missing wait until it is there, and Health has it as
// "publish". One that is to be ingested and is missing is told to the node's
// observer only.
//
// To topics of Config.ExactlyOnce actors publish in transactions. Who reads what
// is committed (isolation.level=read_committed) sees every message of a step
// once, and those of a partition of actors to one partition of the topic in their
// order, whoever has owned it meanwhile. A transaction has up to 256 messages of
// one partition of actors to one topic, and commits with them the number of the
// last, as an offset of the group App.egress.TOPIC; its id is
// App.egress.TYPE.PARTITION, by which a new owner ends the transactions of the one
// before it. Brokers must be of version 2.5 or newer. They forget the number some
// time after the last commit (offsets.retention.minutes, 7 days): if all owners
// have been dead for so long, what was committed in their last second may come
// again.
//
// # Permissions
//
// A process needs Describe and DescribeConfigs on all topics of the application;
// Write on bank.members, bank.replies, bank.dead, the logs and the states; Read on
// the same and on the group bank.owners; Delete on the logs, to cut them off;
// IdempotentWrite on clusters older than 2.8. Setup needs Create. To ingest a topic
// takes Describe and Read on it, to publish to one Describe and Write; exactly
// once also Describe and Write on the transactional ids, and Read on the groups,
// that begin with bank.egress.
//
// # Pitfalls
//
//   - Never add partitions to a type's topics. Actors would be looked for where
//     they are not; Open refuses it.
//   - Brokers give room back by whole files of 64 MiB a partition.
//   - With Replication 1, for tests, a broker that is lost takes records with it.
//   - kafka.Open wants all processes to have the same App and largest entry.
//   - Each process has five connections or so to each broker: appends, other
//     messages, reading, catching up, and the group. One more for each of its
//     partitions that publishes exactly once.
//   - Direct connections without TLS are for networks that you trust: who is on
//     them can read and forge answers, though not connect.
//   - A process that dies takes with it the answers that it has just sent over
//     connections; their callers wait for the second answer, which the next owner
//     gives.
//   - The client has no fetch sessions: every fetch names all partitions that a
//     process owns. Hundreds of them in one process are too many; see
//     docs/scale.md.
//
// # Not for
//
// One process: package memory is a log in files, without brokers.
package kafka
