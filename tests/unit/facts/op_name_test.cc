// What op names reveal about the origin of an operation.
#include "facts/op_name.h"

#include <string>

#include "catch.h"

using namespace whyoom;

TEST_CASE("differentiated, transposed and gradient operations are distinguished", "[facts]") {
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

TEST_CASE("an operation that transposes an array is not a backward pass", "[facts]") {
  CHECK_FALSE(IsTransposed("jit(step)/attention/transpose"));
  CHECK_FALSE(IsTransposed("jit(step)/transpose/mul"));
  CHECK_FALSE(IsInGradient("jit(step)/attention/transpose"));
}

TEST_CASE("the gradient part includes the forward pass and nothing else", "[facts]") {
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

TEST_CASE("rematerialization is distinguished from the mark that permits it", "[facts]") {
  CHECK(IsInCheckpoint("jit(step)/checkpoint/mul"));
  CHECK(IsInCheckpoint("jit(step)/checkpoint/rematted_computation/mul"));
  CHECK_FALSE(IsInCheckpoint("jit(step)/jvp(loss)/mul"));
  CHECK_FALSE(IsInCheckpoint(""));
  CHECK(IsInCheckpoint("jit(step)/jvp(checkpoint)/mul"));
  for (const char* name :
       {"jit(main)/load_checkpoint/convert_element_type", "jit(f)/checkpoints/mul", "jit(f)/checkpoint_name/mul"}) {
    INFO(name);
    CHECK_FALSE(IsInCheckpoint(name));
    CHECK_FALSE(IsInGradient(name));
  }
}

TEST_CASE("a loop runs again as a whole if a checkpoint is around it", "[facts]") {
  CHECK(IsRecomputedLoop("jit(step)/transpose(jvp())/checkpoint/rematted_computation/while"));
  CHECK(IsRecomputedLoop("jit(step)/checkpoint/rematted_computation/while/body/mul"));
  // The checkpoint is around the body of a loop.
  CHECK_FALSE(IsRecomputedLoop("jit(step)/while/body/checkpoint/rematted_computation/while"));
  CHECK_FALSE(IsRecomputedLoop("jit(step)/checkpoint/while"));
}

TEST_CASE("operations under vmap are recognized", "[facts]") {
  CHECK(IsMapped("jit(f)/vmap(g)/sin"));
  CHECK(IsMapped("jit(f)/vmap(jvp(g))/sin"));
  CHECK_FALSE(IsMapped("jit(f)/g/sin"));
  CHECK_FALSE(IsMapped(""));
}

TEST_CASE("checkpoints are removed from any position of a name", "[facts]") {
  CHECK(WithoutCheckpoints("").empty());
  CHECK(WithoutCheckpoints("jit(step)/mlp/mul") == "jit(step)/mlp/mul");
  CHECK(WithoutCheckpoints("jit(step)/checkpoint/mlp/mul") == "jit(step)/mlp/mul");
  CHECK(WithoutCheckpoints("jit(step)/checkpoint/rematted_computation/mlp/mul") == "jit(step)/mlp/mul");
  CHECK(WithoutCheckpoints("checkpoint/a/checkpoint/checkpoint/mul") == "a/mul");
}

TEST_CASE("nested wrappers are removed from a part", "[facts]") {
  CHECK(WithoutWrappers("transpose(jvp(decoder))") == "decoder");
  CHECK(WithoutWrappers("jvp(transpose(decoder))") == "decoder");
  CHECK(WithoutWrappers("vmap(vmap(jvp(h_3)))") == "h_3");
  CHECK(WithoutWrappers("jvp(call(x))") == "call(x)");
  CHECK(WithoutWrappers("jvp()").empty());
  // These have no wrapper.
  CHECK(WithoutWrappers("decoder") == "decoder");
  CHECK(WithoutWrappers("my_jvp(x)") == "my_jvp(x)");
  CHECK(WithoutWrappers("transpose") == "transpose");
  CHECK(WithoutWrappers("jvp(cut") == "jvp(cut");
  CHECK(WithoutWrappers("").empty());
}

TEST_CASE("parts from control flow and transformations are wrappers, and the user's scopes are not", "[facts]") {
  for (const char* part : {"while", "body", "cond", "closed_call", "checkpoint", "remat", "", "bqhd,bkhd->bhqk"}) {
    INFO(part);
    CHECK(IsWrapper(part));
  }
  for (const char* part : {"decoder", "h_3", "while_loop", "body_1", "my_cond", "antibody"}) {
    INFO(part);
    CHECK_FALSE(IsWrapper(part));
  }
}
