// Op names reveal the origin of an operation.
#include "catch.h"
#include "program/hlo.h"

using namespace whyoom;

TEST_CASE("differentiated, transposed and gradient operations are distinguished", "[program]") {
  const char* const kForward = "jit(step)/jvp(loss)/mul";
  const char* const kBackward = "jit(step)/transpose(jvp(loss))/mul";
  const char* const kLinear = "jit(solve)/transpose(matvec)/dot_general";
  const char* const kPlain = "jit(step)/adam/mul";
  CHECK(IsDifferentiated(kForward));
  CHECK(IsDifferentiated(kBackward));
  CHECK_FALSE(IsDifferentiated(kLinear));
  CHECK_FALSE(IsDifferentiated(kPlain));

  CHECK(IsTransposed(kBackward));
  CHECK(IsTransposed(kLinear));
  CHECK_FALSE(IsTransposed(kForward));
  CHECK_FALSE(IsTransposed(kPlain));

  CHECK(IsGradient(kBackward));
  CHECK_FALSE(IsGradient(kLinear));
  CHECK_FALSE(IsGradient(kForward));
  CHECK_FALSE(IsGradient(kPlain));
}

TEST_CASE("an operation that transposes an array is not a backward pass", "[program]") {
  CHECK_FALSE(IsTransposed("jit(step)/attention/transpose"));
  CHECK_FALSE(IsTransposed("jit(step)/transpose/mul"));
}

TEST_CASE("operations under vmap are recognized", "[program]") {
  CHECK(IsMapped("jit(f)/vmap(g)/sin"));
  CHECK(IsMapped("jit(f)/vmap(jvp(g))/sin"));
  CHECK_FALSE(IsMapped("jit(f)/g/sin"));
  CHECK_FALSE(IsMapped(""));
}
