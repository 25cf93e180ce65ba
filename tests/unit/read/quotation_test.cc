// Distinguishes messages that a process printed from those in source code, comments, documents and conversations.
#include <deque>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "read/engine.h"
#include "read/message.h"
#include "rules/rule_set.h"

namespace whyoom {
namespace TEST_FILE {

// These replace the last "@" of each text.
const std::vector<std::string> kMessages = {
    "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 20.25G of 15.48G hbm. Exceeded hbm capacity by "
    "4.77G.",
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 50.00M. That was not possible. There "
    "are 27.86M free.; (0x0x0_HBM0)",
    "Error loading program 'jit_step': Attempting to reserve 9.03G at the bottom of memory. That was not possible. "
    "There are 8.18G free, 0B reserved, and 8.18G reservable.",
    "RESOURCE_EXHAUSTED: Allocation (size=107374182400) would exceed memory (size=17179869184) :: #allocation7",
};
// These contain no figures.
const std::vector<std::string> kNames = {
    "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory in memory space hbm",
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate",
};

// Returns the number of failures found in `text` with the message in place of its "@".
std::size_t Found(const std::string& text, const std::string& message) {
  static const RuleSource rules;  // as in the program
  static const Engine engine(rules);
  std::string log = text;
  log.replace(log.rfind('@'), 1, message);
  Report report = ReadArtifact(engine, {"log", ""}, *OpenMemory(log), {});
  std::vector<Problem> problems;
  return report.table ? report.table->Finish(&problems).size() : 0;
}

void CheckSilent(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    for (const std::string& message : kMessages) {
      INFO(text << " with " << message);
      CHECK(Found(text, message) == 0);
    }
    for (const std::string& message : kNames) {
      INFO(text << " with " << message);
      CHECK(Found(text, message) == 0);
    }
  }
}

void CheckFound(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    for (const std::string& message : kMessages) {
      INFO(text << " with " << message);
      CHECK(Found(text, message) == 1);
    }
  }
}

TEST_CASE("messages in Python code are quotations", "[read]") {
  CheckSilent({
      "def alloc(size):\n    if size > limit:\n        raise ValueError(\"@\")\n    return size\n",
      "        raise RuntimeError(\"@\")",
      "    if bad:\n        raise RuntimeError(\n            \"@\"\n        )\n",
      "_OOM = \"@\"\n",
      "# Seen on v5e.\n_OOM = (\n    \"@ \"\n    \"Really.\"\n)\n",
      "MESSAGES = [\n    \"@\",\n    \"another\",\n]\n",
      "CASES = [\n    {\n        \"raw\": \"@\",\n        \"kind\": \"compile\",\n    },\n]\n",
      "client.run.side_effect = XlaRuntimeError(\"@\")\n",
      "    runner = FakeRunner(error=XlaRuntimeError(\"@\"))\n    runner.go()\n    assert runner.failed\n",
      "    if \"@\" in str(e):\n        retry()\n",
      "        logger.error(\"@\")\n",
  });
}

TEST_CASE("messages in tests are quotations", "[read]") {
  CheckSilent({
      "    self.assertIn(\"@\", log)\n",
      "  with pytest.raises(RuntimeError, match=\"@\"):\n    f()\n",
      "  with pytest.raises(\n      RuntimeError,\n      match=\"@\",\n  ):\n    f()\n    g()\n",
      "@pytest.mark.parametrize(\"text\", [\n    \"@\",\n])\n",
      "    (\n        \"hbm\",\n        \"@\",\n        \"E1000\",\n    ),\n",
      "  EXPECT_THAT(status.message(), HasSubstr(\"@\"));\n",
      "  EXPECT_THAT(status.message(),\n              ::testing::HasSubstr(\"@\"));\n",
      "  expect(classify(\"@\")).toBe('oom');\n",
  });
}

TEST_CASE("messages in comments are quotations", "[read]") {
  CheckSilent({
      "x = f(batch)\n# @\ny = g(x)\n",
      "    try:\n        x = f(batch)\n    except RuntimeError as e:\n        # @\n        print(e)\n",
      "batch = f(8)  # @\n",
      "# TODO: Fix this: @\n",
      "  // @\n  int x = f(3);\n  return x;\n",
      "// When this happens the compiler says: @\n",
      "/**\n * Compiles. May fail with\n * @\n */\nvoid Compile();\n",
      "    /// Fails with `@`.\n    pub fn run(&self) -> Result<()> {\n        let x = 3;\n",
      "model: x\n# This failed last week when we ran it with \"@\"\nbatch: 3\n",
  });
}

TEST_CASE("messages in docstrings are quotations", "[read]") {
  CheckSilent({
      "def f(x):\n    \"\"\"@\"\"\"\n    return x\n",
      "def f(x):\n    \"\"\"Runs x.\n\n    Raises:\n      RuntimeError: @\n    \"\"\"\n    return g(x)\n",
      "def f(x):\n    \"\"\"Runs x.\n\n    Line 0 of words about it.\n    Line 1 of words about it.\n    Line 2 of "
      "words about it.\n    Line 3 of words about it.\n    Line 4 of words about it.\n    Line 5 of words about it.\n  "
      "  Line 6 of words about it.\n    Line 7 of words about it.\n    Line 8 of words about it.\n    Line 9 of words "
      "about it.\n    Line 10 of words about it.\n    Line 11 of words about it.\n    @\n\n    More words.\n    "
      "\"\"\"\n    return g(x)\n",
      "\"\"\"Tests of things.\n\nOn v5e this printed\n\n    @\n\nwhich is bad.\n\"\"\"\nimport jax\n",
      "LOG = \"\"\"\nTraceback (most recent call last):\n@\n\"\"\"\n\ndef test_it():\n    assert parse(LOG)\n",
      "    log = textwrap.dedent(\"\"\"\\\n        step 1\n        @\n        \"\"\")\n",
  });
}

TEST_CASE("messages in code of other languages are quotations", "[read]") {
  CheckSilent({
      "  if (bytes > limit) {\n    return absl::ResourceExhaustedError(\n        \"@\");\n  }\n",
      "  return absl::ResourceExhaustedError(\"@\");\n",
      "    LOG(ERROR) << \"@\";\n",
      "constexpr char kOom[] = \"@\";\n",
      "constexpr absl::string_view kOom =\n    \"@\";\n",
      "const char* kLog = R\"(\n@\n)\";\n",
      "        return Err(anyhow!(\"@\"));\n",
      "\treturn fmt.Errorf(\"@\")\n",
      "\tif err != nil {\n\t\treturn status.Error(codes.ResourceExhausted, \"@\")\n\t}\n",
      "const OOM = `@`;\n",
      "    throw new IllegalStateException(\"@\");\n",
      "if grep -q \"@\" \"$LOG\"; then\n  exit 3\nfi\n",
      "  echo \"@\" >> expected.txt\n",
  });
}

TEST_CASE("messages in listings of files are quotations", "[read]") {
  CheckSilent({
      "src/runtime/alloc.py:123:        raise RuntimeError(\"@\")\n",
      "tests/test_oom.py:77:# @\n",
      "./xla/errors.cc:12:  return absl::InternalError(\"@\");\n",
      "docs/errors.md:44:If you see `@`, reduce the batch.\n",
      "diff --git a/t.py b/t.py\n--- a/t.py\n+++ b/t.py\n@@ -1,3 +1,4 @@ def f():\n     x = 1\n+    raise "
      "ValueError(\"@\")\n     y = 2\n",
      "@@ -10,6 +10,9 @@\n context line here\n+# @\n-old\n",
      "+        raise RuntimeError(\"@\")\n",
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    raise ValueError(\"@\")\nKeyError: 3\n",
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    raise ValueError(\"No. \"\n              "
      "       \"@\")\nKeyError: 3\n",
      "     12   if bad:\n---> 13     raise ValueError(\"@\")\n     14   return x\n\nKeyError: 3\n",
      "  \"source\": [\n    \"import jax\\n\",\n    \"def f(x):\\n\",\n    \"    # @\\n\",\n    \"    return x\\n\"\n  "
      " ]\n",
      "   \"source\": [\n    \"import jax\\n\",\n    \"try:\\n\",\n    \"    raise ValueError(\\\"@\\\")\\n\",\n    "
      "\"except ValueError as e:\\n\",\n    \"    print(e)\"\n   ]\n",
      "<p>If you see <code>@</code>, reduce the batch.</p>\n",
  });
}

TEST_CASE("messages in documents are quotations", "[read]") {
  CheckSilent({
      "If you see `@`, lower the batch size.\n",
      "If you see the error \"@\" then lower the batch size.\n",
      "Errors such as `@` mean that the program is too large.\n",
      "## `@`\n\nThe program does not fit. Shard it.\n",
      "### 3. RESOURCE: @\n\nThe program does not fit.\n",
      "| Error | Fix |\n|---|---|\n| `@` | Reduce the batch size or shard |\n",
      "- An OOM (e.g. `@`) is retried by the launcher.\n",
      "The message looks like \"@\" on older chips.\n",
      "1. Search the logs for `@`.\n",
      "You may get \"@\" here.\n",
  });
}

TEST_CASE("messages in conversations are quotations", "[read]") {
  CheckSilent({
      "<ann> I get @ on v5e\n",
      "[12:01] bob: does anyone know why it says \"@\"?\n",
      "alice: we had \"@\" last week, lower the batch\n",
      "bob: same here, I see @\n",
  });
}

TEST_CASE("messages printed by a process are found", "[read]") {
  CheckFound({
      "@\n",
      "jaxlib.xla_extension.XlaRuntimeError: @\n",
      "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    main()\n  File \"train.py\", "
      "line 9, in main\n    state = step(state, batch)\n            "
      "^^^^^^^^^^^^^^^^^^\njaxlib.xla_extension.XlaRuntimeError: @\n",
      "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    return fn(a, b)\n  File "
      "\"b.py\", line 9, in main\n    out = compiled.call(\n          ^^^^^^^^^^^^^^\n    raise e from "
      "None\nRuntimeError: @\n",
      "ERROR worker failed: \"@\"\n",
      "E0000 worker.cc:3] Task failed: XlaRuntimeError(\"@\")\n",
      "<Task finished name='Task-3' exception=XlaRuntimeError(\"@\")>\n",
      "train.py:123: RuntimeError: @\n",
      "/app/train.py:123: UserWarning: @\n",
      "E1120 12:00:00.0 123 pjrt.cc:3] @\n",
      "[rank0]: RuntimeError: @\n",
      "worker-0: RuntimeError: @\n",
      "3: @\n",
      "trainer: error: @\n",
      "+ python train.py --batch 3\n@\n+ exit 1\n",
      "Failed to compile the model: @\n",
      "Step 12 failed with error: @\n",
      "Error during initialization of the engine: @\n",
      "Caught exception in worker thread: @\n",
      "Compilation failed, retrying (2/3): @\n",
      "ray.exceptions.RayTaskError(XlaRuntimeError): ray::train() (pid=3)\n  File \"a.py\", line 3, in f\n    return "
      "g(x)\nRuntimeError: @\n",
      "step 1\rstep 2\r@\n",
  });
}

TEST_CASE("messages in records are found", "[read]") {
  CheckFound({
      "level=error msg=\"step failed\" error=\"@\"\n",
      "{\"severity\": \"ERROR\", \"message\": \"@\"}\n",
      "{\"step\": 3, \"error\": \"@\"}\n",
      "{\n  \"step\": 3,\n  \"error\": \"@\",\n  \"ok\": false\n}\n",
      "<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.RESOURCE_EXHAUSTED\n\tdetails = "
      "\"@\"\n\tdebug_error_string = \"{...}\"\n>\n",
      "   \"outputs\": [\n    {\n     \"name\": \"stderr\",\n     \"output_type\": \"stream\",\n     \"text\": [\n     "
      " \"step 1\\n\",\n      \"@\\n\"\n     ]\n    }\n   ],\n",
      "     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": \"@\\nstep 2\\n\"\n    }\n",
      "     \"ename\": \"XlaRuntimeError\",\n     \"evalue\": \"@\",\n     \"output_type\": \"error\",\n",
      "{\"log\":\"@\\n\",\"stream\":\"stderr\",\"time\":\"2026-01-01T00:00:00Z\"}\n",
  });
}

TEST_CASE("a later compile that fits is no failure", "[read]") {
  const std::string list =
      "  1. Size: 11.44G\n     Shape: f32[11999232,4,2]\n     Allocation type: HLO temp\n     =====\n";
  const std::string fits =
      "Total hbm usage >= 4.00G:\n    reserved        258.00M\n    program           3.00G\n"
      "    arguments         1.00G\n";
  CHECK(Found("@\n\n" + list + "\n" + fits, kMessages[0]) == 1);
  CHECK(Found("@\n" + list + "ok\n" + fits, kMessages[0]) == 1);
}

TEST_CASE("pasted messages are found", "[read]") {
  CheckFound({
      "We ran the job and it failed:\n\n```\n@\n```\n\nAny idea?\n",
      "Here is the code:\n\n```python\nimport jax\ndef f(x):\n    return "
      "x.at[0].set(1)\nprint(f(3))\n```\n\nOutput:\n\n```\n@\n```\n",
      "```python\nimport jax\ny = f(3)\nprint(y)\n```\n@\n",
      "> @\n",
      "- @\n",
      "* `@`\n",
      "- Error: `@`\n",
      "**Error**: `@`\n",
      "# @\n",
      "The compilation failed again (`@`).\n",
      "| 32 | failed |  |  | ValueError: @ |\n",
      "$ cat t.py\nimport jax\nx = f(3)\nprint(x)\n$ python t.py\n@\n",
      "print(\"a\")\nx = f(3)\n@\n",
      "@\n```\n\n```python\ndef f(x):\n    \"\"\"Doc.\"\"\"\n    return x\n```\n",
  });
}

TEST_CASE("a name in a sentence is not a failure", "[read]") {
  for (const char* text : {"No @CompileTimeHbmOom, and it is fast.", "@CompileTimeHbmOom happens when it is large.",
                           "@`CompileTimeHbmOom`, no `RuntimeBufferAllocationFailure`.",
                           "| 15 | dense | OOM (@`RuntimeProgramAllocationFailure`) |", "### @`CompileTimeHbmOom`",
                           "if \"@CompileTimeHbmOom\" in text:"}) {
    INFO(text);
    CHECK(Found(text, "") == 0);
  }
  for (const char* text :
       {"@E1000: CompileTimeHbmOom: Ran out of memory", "RESOURCE_EXHAUSTED: @CompileTimeHbmOom:\nRan out",
        "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: @E1000: CompileTimeHbmOom"}) {
    INFO(text);
    CHECK(Found(text, "") == 1);
  }
}

TEST_CASE("placeholders and search patterns are not figures", "[read]") {
  for (const char* text : {"@Error allocating device buffer: Attempting to allocate %s.",
                           "@Error loading program '%s': Attempting to reserve %lld",
                           "@Ran out of memory in memory space hbm. Used {used} of {limit}",
                           "@Ran out of memory in memory space hbm\\. Used (\\S+)",
                           "@Error allocating device buffer: Attempting to allocate \" << size << \"."}) {
    INFO(text);
    CHECK(Found(text, "") == 0);
  }
}

TEST_CASE("text that begins in machine code is quoted, whatever follows", "[read]") {
  const QuotationFinder finder(BuiltInRules());
  std::deque<Line> lines(2);
  lines[0].text = lines[1].text = "Ran out of memory";
  const std::deque<std::string> before;
  CHECK(finder.Find({before, lines}, 0) == nullptr);
  lines[0].binary = true;
  CHECK(finder.Find({before, lines}, 0) != nullptr);
  lines[0].binary = false;
  lines[1].binary = true;
  CHECK(finder.Find({before, lines}, 0) == nullptr);
}

}  // namespace TEST_FILE
}  // namespace whyoom
