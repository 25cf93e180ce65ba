// Finds the user's line in a traceback.
#include "read/traceback.h"

#include <string>
#include <vector>

#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

// Returns "train.py:41 at 7" (the line of the frame), or "none".
std::string CallAfter(const std::vector<std::string>& lines) {
  Traceback traceback;
  Line line;
  for (const std::string& text : lines) {
    ++line.number;
    line.text = text;
    traceback.Feed(line);
  }
  const std::optional<UserCall> call = traceback.user_call();
  return call ? call->source + " at " + std::to_string(call->place.line) : "none";
}

TEST_CASE("the innermost frame outside libraries is the user's", "[read]") {
  const std::vector<std::string> lines = {
      "Traceback (most recent call last):",
      "  File \"/home/ada/train/run.py\", line 90, in <module>",
      "    main()",
      "  File \"/home/ada/train/loop.py\", line 41, in main",
      "    state = step(state, batch)",
      "            ^^^^^^^^^^^^^^^^^^",
      "  File \"/home/ada/venv/lib/python3.11/site-packages/flax/linen/linear.py\", line 251, in __call__",
      "    y = dot_general(inputs, kernel)",
      "  File \"/usr/lib/python3.11/contextlib.py\", line 81, in inner",
      "    return func(*args, **kwds)",
      "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom:"};
  CHECK(CallAfter(lines) == "loop.py:41 at 4");
}

TEST_CASE("a traceback without user frames has none of the one before", "[read]") {
  CHECK(CallAfter({"Traceback (most recent call last):", "  File \"/home/ada/a.py\", line 3, in f", "KeyError: 'x'",
                   "Traceback (most recent call last):",
                   "  File \"/opt/venv/lib/python3.12/site-packages/jax/_src/pjit.py\", line 250, in cache_miss",
                   "RuntimeError: RESOURCE_EXHAUSTED"}) == "none");
}

TEST_CASE("a traceback counts only directly before the error", "[read]") {
  std::vector<std::string> lines = {"Traceback (most recent call last):", "  File \"/home/ada/a.py\", line 3, in f",
                                    "KeyError: 'x'"};
  CHECK(CallAfter(lines) == "a.py:3 at 2");
  lines.insert(lines.end(), 20, "step 17 loss 2.5");
  CHECK(CallAfter(lines) == "none");
  lines.push_back("  File \"/opt/venv/lib/python3.12/site-packages/jax/_src/pjit.py\", line 250, in cache_miss");
  CHECK(CallAfter(lines) == "none");
  CHECK(CallAfter({}) == "none");
}

TEST_CASE("frames of notebooks are read", "[read]") {
  CHECK(CallAfter({"File ~/train/loop.py:41, in main(args)", "     40 x = 1", "---> 41 step(x)",
                   "File /opt/venv/lib/python3.11/site-packages/jax/_src/pjit.py:250, in cache_miss(*args)"}) ==
        "loop.py:41 at 1");
  CHECK(CallAfter({"Cell In[3], line 7", "      5 x = 1"}) == "Cell In[3], line 7 at 1");
  CHECK(CallAfter({"  File \"/tmp/ipykernel_31/88.py\", line 7, in <module>"}) == "88.py:7 at 1");
}

TEST_CASE("gaps end a traceback", "[read]") {
  Traceback traceback;
  Line line;
  line.text = "  File \"/home/ada/a.py\", line 3, in f";
  traceback.Feed(line);
  REQUIRE(traceback.user_call());
  traceback.Reset();
  CHECK_FALSE(traceback.user_call());
}

TEST_CASE("a line that only compiles is not the call that failed", "[read]") {
  const auto compiles = [](const std::string& code, const std::string& library) {
    Traceback traceback;
    Line line;
    for (const std::string& text :
         {std::string("Traceback (most recent call last):"), std::string("  File \"train.py\", line 8, in <module>"),
          "    " + code, std::string("  File \"/usr/lib/python3/dist-packages/jax/stages.py\", line 7, in compile"),
          "    " + library, std::string("XlaRuntimeError: RESOURCE_EXHAUSTED: no room")}) {
      ++line.number;
      line.text = text;
      traceback.Feed(line);
    }
    return traceback.user_call()->compiles;
  };
  CHECK(compiles("compiled = step.lower(state, batch).compile()", "return self.run()"));
  CHECK_FALSE(compiles("state = step(state, batch)", "return lowered.compile()"));
  CHECK_FALSE(compiles("model.compile(optimizer='adam')", "return self.run()"));
}

}  // namespace TEST_FILE
