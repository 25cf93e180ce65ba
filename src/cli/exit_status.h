// Exit statuses of whyoom, as listed in the README. After a signal: kSignalled plus its number.
#pragma once

namespace whyoom {

inline constexpr int kNothing = 0;
inline constexpr int kFound = 1;
inline constexpr int kCouldNotRun = 2;
inline constexpr int kUnreadInput = 3;
inline constexpr int kFitUnknown = 4;  // diff: no evidence whether AFTER fits
inline constexpr int kSignalled = 128;

}  // namespace whyoom
