// Whether this is built with a sanitizer: they take terabytes of addresses, so limits of memory cannot be tried.
#pragma once

#if defined(__has_feature)
#define WHYOOM_TEST_HAS(feature) __has_feature(feature)
#else
#define WHYOOM_TEST_HAS(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized =
    WHYOOM_TEST_HAS(address_sanitizer) || WHYOOM_TEST_HAS(thread_sanitizer) || WHYOOM_TEST_HAS(memory_sanitizer);
#endif
