// What whyoom ends with, as the README lists it; a signal adds its number to kSignalled.
#pragma once

namespace whyoom {

inline constexpr int kNothing = 0;
inline constexpr int kFound = 1;
inline constexpr int kCouldNotRun = 2;
inline constexpr int kNotAllRead = 3;
inline constexpr int kNotKnown = 4;  // diff: nothing shows whether the later run fits
inline constexpr int kSignalled = 128;

// What run --exit-retry ends with where a job will fail again. No program's usual failure (1, 2), no <sysexits.h> (64
// to 78), nothing of shells and timeout(1) (124 to 127) and no signal (from 128 on); the documentation of Kubernetes
// takes it for the same.
inline constexpr int kFailsAgain = 42;

}  // namespace whyoom
