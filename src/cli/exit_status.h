// What whyoom ends with, as the README lists it; a signal adds its number to kSignalled.
#pragma once

namespace whyoom {

inline constexpr int kNothing = 0;
inline constexpr int kFound = 1;
inline constexpr int kCouldNotRun = 2;
inline constexpr int kNotAllRead = 3;
inline constexpr int kSignalled = 128;

}  // namespace whyoom
