// Package actorstest tries actors, and logs of actors, under faults.
//
// # Actors
//
// [Run] runs a test many times. Each time several processes host the actors, in
// virtual time, and things go wrong that a seed has chosen: processes die at any
// of their appends, are paused, lose their partitions without being told, lose
// acknowledgements; records land late or twice; snapshots are late; the clock of
// the log jumps. After every record a judge recomputes from the log alone whether
// what package actors promises holds. What the actors themselves promise is the
// test's to check.
//
//	func TestNothingIsCountedTwice(t *testing.T) {
//		actorstest.Run(t, func(sim *actorstest.Sim) {
//			sim.Start(3, bank.Hosting())
//			for range 5 {
//				sim.Go(func(ctx context.Context) {
//					if _, err := bank.Deposit.Call(ctx, bank.Account.Ref("alice"), 100); err != nil {
//						sim.Errorf("deposit: %v", err)
//					}
//				})
//			}
//			sim.Settle()
//			if b, err := bank.Balance.Call(sim.Context(), bank.Account.Ref("alice"), struct{}{}); err != nil || b != 500 {
//				sim.Errorf("the balance is %d, %v", b, err)
//			}
//		})
//	}
//
// When a seed fails, faults are left out and shortened for as long as it still
// fails, and the command that repeats it is printed. Methods of one process run
// on goroutines, whose order at one instant is not up to the seed: a failure may
// need more than one repetition.
//
// A test must not use real time, the network, or locks that it holds while it
// waits; see testing/synctest. Random numbers should come from [Sim.Rand].
//
// [Sim.Publish] adds messages to ordinary topics, for types that ingest them.
//
// # Settings
//
//	ACTORSTEST_SEEDS    how many seeds are tried, 40, and 10 with -short
//	ACTORSTEST_FROM     the first of them, 1
//	ACTORSTEST_SEED     the one seed to try
//	ACTORSTEST_FAULTS   the faults to try it with
//
// # Logs
//
// [TestLog] and [TestDurableLog] check that a log keeps the promises of package
// journal, [TestStateStore] that a store of states does.
package actorstest
