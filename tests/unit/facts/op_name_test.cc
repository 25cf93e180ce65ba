// What the names of operations say of where they came from.
#include "facts/op_name.h"

#include <string>

#include "catch.h"

using namespace whyoom;

TEST_CASE("a derivative and its backward pass are told apart", "[facts]") {
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

TEST_CASE("an operation that transposes an array is no backward pass", "[facts]") {
  CHECK_FALSE(IsTransposed("jit(step)/attention/transpose"));
  CHECK_FALSE(IsTransposed("jit(step)/transpose/mul"));
  CHECK_FALSE(IsInGradient("jit(step)/attention/transpose"));
}

TEST_CASE("the gradient part has the forward pass in it, and nothing else", "[facts]") {
  for (const char* name : {"jit(step)/jvp(loss)/mul", "jit(step)/transpose(jvp(loss))/mul", "jit(step)/checkpoint/mul",
                           "jit(step)/rematted_computation/mul", "gradients/dense/MatMul_grad"}) {
    INFO(name);
    CHECK(IsInGradient(name));
  }
  for (const char* name : {"", "mul", "jit(step)/adam/mul", "jit(step)/vmap(f)/mul"}) {
    INFO(name);
    CHECK_FALSE(IsInGradient(name));
  }
}

TEST_CASE("what is computed again is told from what may be", "[facts]") {
  CHECK(IsRematted("jit(step)/checkpoint/mul"));
  CHECK(IsRematted("jit(step)/checkpoint/rematted_computation/mul"));
  CHECK_FALSE(IsRematted("jit(step)/jvp(loss)/mul"));
  CHECK_FALSE(IsRematted(""));
  CHECK(IsRematted("jit(step)/jvp(checkpoint)/mul"));
  for (const char* name :
       {"jit(main)/load_checkpoint/convert_element_type", "jit(f)/checkpoints/mul", "jit(f)/checkpoint_name/mul"}) {
    INFO(name);
    CHECK_FALSE(IsRematted(name));
    CHECK_FALSE(IsInGradient(name));
  }
  CHECK(IsRecomputed("jit(step)/checkpoint/rematted_computation/mul"));
  CHECK_FALSE(IsRecomputed("jit(step)/checkpoint/mul"));  // the first time
  CHECK_FALSE(IsRecomputed(""));
}

TEST_CASE("what is done for each of many", "[facts]") {
  CHECK(IsMapped("jit(f)/vmap(g)/sin"));
  CHECK(IsMapped("jit(f)/vmap(jvp(g))/sin"));
  CHECK_FALSE(IsMapped("jit(f)/g/sin"));
  CHECK_FALSE(IsMapped(""));
}

TEST_CASE("checkpoints are taken out of a name wherever they stand", "[facts]") {
  CHECK(WithoutCheckpoints("").empty());
  CHECK(WithoutCheckpoints("jit(step)/mlp/mul") == "jit(step)/mlp/mul");
  CHECK(WithoutCheckpoints("jit(step)/checkpoint/mlp/mul") == "jit(step)/mlp/mul");
  CHECK(WithoutCheckpoints("jit(step)/checkpoint/rematted_computation/mlp/mul") == "jit(step)/mlp/mul");
  CHECK(WithoutCheckpoints("checkpoint/a/checkpoint/checkpoint/mul") == "a/mul");
}

TEST_CASE("wrappers are taken off a part, however many stand round each other", "[facts]") {
  CHECK(WithoutWrappers("transpose(jvp(decoder))") == "decoder");
  CHECK(WithoutWrappers("jvp(transpose(decoder))") == "decoder");
  CHECK(WithoutWrappers("vmap(vmap(jvp(h_3)))") == "h_3");
  CHECK(WithoutWrappers("jvp(call(x))") == "call(x)");
  CHECK(WithoutWrappers("jvp()").empty());
  // Nothing stands round these.
  CHECK(WithoutWrappers("decoder") == "decoder");
  CHECK(WithoutWrappers("my_jvp(x)") == "my_jvp(x)");
  CHECK(WithoutWrappers("transpose") == "transpose");
  CHECK(WithoutWrappers("jvp(cut") == "jvp(cut");
  CHECK(WithoutWrappers("").empty());
}

TEST_CASE("parts of control flow and of transformations are no scopes of the user's", "[facts]") {
  for (const char* part : {"while", "body", "cond", "closed_call", "checkpoint", "remat", "", "bqhd,bkhd->bhqk"}) {
    INFO(part);
    CHECK(IsWrapper(part));
  }
  for (const char* part : {"decoder", "h_3", "while_loop", "body_1", "my_cond", "antibody"}) {
    INFO(part);
    CHECK_FALSE(IsWrapper(part));
  }
}
