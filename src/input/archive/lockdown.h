// Gives up what a process that unpacks has no need of.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#define WHYOOM_HAS_FEATURE(feature) __has_feature(feature)
#else
#define WHYOOM_HAS_FEATURE(feature) 0
#endif

namespace whyoom {

// Where a sanitizer is at work: its shadow memory is of terabytes, and it calls the system in many ways, so that
// neither can be limited.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = WHYOOM_HAS_FEATURE(address_sanitizer) || WHYOOM_HAS_FEATURE(thread_sanitizer) ||
                            WHYOOM_HAS_FEATURE(memory_sanitizer);
#endif

// Whoever killed the run meant this process, too. It ends with the thread that started it.
void EndWithParent();

// Closes every descriptor but this one.
void CloseAllBut(int descriptor);

// From now on this process opens nothing, starts nothing, reaches nobody but over the descriptors it has, and takes at
// most `memory` bytes more than it has. Each as far as the system knows how.
void LockDown(std::size_t memory);

}  // namespace whyoom
