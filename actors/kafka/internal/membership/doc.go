// Package membership shares the partitions of actors out to the processes of an
// application, by a consumer group, and finds in well below a second who of them
// has died.
//
// # Problem
//
// A consumer group gives a dead member's partitions to others when its session
// has run out: 6 s at least on a stock broker, 45 s where nobody has chosen. A
// client that is frozen believes for longer that it is a member. And sarama's
// own consumer group fetches from whatever it is assigned, does not say when its
// heartbeats were last answered, and lets go of everything when it rebalances.
//
// # What is promised
//
//   - Of each type a member hosts it gets its share, give or take one, of types
//     that it does not host nothing. What need not move stays.
//   - A rebalance interrupts nobody. What moves away is dropped at once, what
//     comes is told at once.
//   - A process that dies is out of the group within about 0.7 s, one that
//     leaves at once.
//   - A broker that stalls makes nobody suspect.
//   - Who is removed though it lives notices with the next heartbeat, and joins
//     as new.
//   - Who cannot hear the group, or was stopped, owns nothing until the group
//     has answered.
//   - Who has lost a partition to another can ask which of both it belongs to.
//
// None of this is needed for correctness: the logs' epochs decide who owns a
// partition. A wrong suspicion costs time.
//
// # How
//
// Detection is ours, assignment is the group's. Every process is a static member
// of the group App.owners, under an instance id that is new with every start, and
// writes a beat to the topic App.members five times a second. All read all beats.
// Who is silent for too long, by the time stamps of the log, is removed from the
// group by any of the others; the group then rebalances within a heartbeat,
// which is more frequent while somebody comes or goes.
//
// The group is spoken to in its own protocol, over sarama's requests. What is
// subscribed to are the topics of the logs: nothing is fetched through the group,
// no offsets are committed, and the usual tools show who owns what:
//
//	kafka-consumer-groups.sh --bootstrap-server … --describe --group bank.owners
//
// # Defaults
//
//	interval of beats                  200 ms; n × 10 ms in a group of more than 20
//	silence that makes suspect         600 ms; three intervals, if that is more
//	session, and lease                 10 s
//	gap that means a stopped process   half a session
//	heartbeats                         200 ms; 50 ms for 2 s when something changes
//	who may remove                     whose own last beat was read back within 600 ms,
//	                                   and who hears a third of the group, itself included
//	who is removed whatever the rest   members that were silent when this process came,
//	                                   and for 3 s before; members that were never heard,
//	                                   600 ms or three intervals after they were listed
//	beats read at the start            the last 1,000
//
// # Pitfalls
//
//   - App.members must have one partition, LogAppendTime and a short retention.
//     With the senders' own clocks it works only as far as these agree.
//   - An empty group makes its first member wait for group.initial.rebalance.delay.ms,
//     3 s on a stock broker.
//   - A computer that sleeps stops the clock by which a stop is found. Then the
//     first heartbeat tells.
//
// # Files
//
//	config.go      what a membership needs
//	join.go        connections, and the first share
//	membership.go  what is known of the members
//	assign.go      what is assigned here
//	confirm.go     whether that is so still
//	leave.go       the end
//	beat.go        what a member writes
//	writer.go      writing it
//	reader.go      hearing all of them
//	onlooker.go    knowing the members, and being none
//	detector.go    who is dead; pure
//	evict.go       removing who is
//	group.go       the place in the group
//	protocol.go    its requests
//	share.go       sharing out; pure
//	lease.go       how long the group's word holds; pure
//	pause.go       whether this process was stopped
//	event.go       what is told
package membership
