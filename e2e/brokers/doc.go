// Package brokers starts real Apache Kafka for tests: one broker or three, in
// KRaft mode, on loopback ports, with a data folder of their own. A test can
// kill, stop and freeze each of them, and start it again on its data. All of
// it ends with the test, and, on Linux, with the process of the tests.
//
//	cluster := brokers.Start(t, brokers.WithBrokers(3))
//	client, err := sarama.NewClient(cluster.Addrs(), config)
//	cluster.Kill(0)
//
// # What it needs
//
// Java 17 or newer and, the first time, Maven. The jars are those of pom.xml:
// 55 MB, kept in the user's cache folder, by the hash of that file. Without
// one of the two, a test fails and says what to install: a test that was
// skipped looks like one that passed.
//
// # What is not stock
//
// A broker has a heap of 512 MB, is compiled for a quick start, creates no
// topics by itself, and keeps its internal topics in fewer partitions, so that
// three fit beside the tests. On
// three brokers the replication factor is 3, of which 2 have to be in sync.
// The timing of groups, sessions and elections is stock unless an [Option]
// changes it.
//
// # One for many tests
//
// A broker takes a few seconds to start. [Shared] starts one for all tests of
// a binary. Its TestMain ends what is shared:
//
//	func TestMain(m *testing.M) { os.Exit(brokers.Run(m)) }
//
// # And one that is not real
//
// [StartFake] starts kfake within the process in milliseconds, [StartFakeProcess]
// as a process of its own, which can be killed.
//
//	cluster.go  the brokers of a test
//	node.go     one of them
//	settings.go what they are told
//	option.go   what a test may change
//	jars.go     where they come from
//	shared.go   one for many tests
//	fake.go     kfake
package brokers
