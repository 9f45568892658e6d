#include <gtest/gtest.h>

#include <string>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"

namespace {

std::string option(aclCompileOpt which) {
  std::string text(aclGetCompileoptSize(which), '?');
  EXPECT_EQ(aclGetCompileopt(which, text.data(), text.size()), ACL_SUCCESS);
  EXPECT_EQ(text.back(), '\0');
  text.pop_back();
  return text;
}

std::string recent_message() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

TEST(CompileOptions, JitCompilationIsOffUntilSet) {
  EXPECT_EQ(option(ACL_OP_JIT_COMPILE), "disable");
  EXPECT_EQ(option(ACL_PRECISION_MODE), "");
  EXPECT_EQ(aclSetCompileopt(ACL_PRECISION_MODE, "must_keep_origin_dtype"), ACL_SUCCESS);
  EXPECT_EQ(aclSetCompileopt(ACL_OP_JIT_COMPILE, "enable"), ACL_SUCCESS);
  EXPECT_EQ(option(ACL_PRECISION_MODE), "must_keep_origin_dtype");
  EXPECT_EQ(option(ACL_OP_JIT_COMPILE), "enable");
  EXPECT_EQ(aclSetCompileopt(ACL_OP_JIT_COMPILE, "disable"), ACL_SUCCESS);
}

TEST(CompileOptions, WhatDoesNotFitIsRefused) {
  char room[8] = {};
  EXPECT_EQ(aclGetCompileopt(ACL_OP_JIT_COMPILE, room, 8), ACL_SUCCESS);
  EXPECT_STREQ(room, "disable");
  EXPECT_NE(aclGetCompileopt(ACL_OP_JIT_COMPILE, room, 7), ACL_SUCCESS);
  EXPECT_NE(recent_message().find("8 bytes"), std::string::npos);
  EXPECT_NE(aclGetCompileopt(ACL_OP_JIT_COMPILE, nullptr, 8), ACL_SUCCESS);
  EXPECT_NE(aclSetCompileopt(static_cast<aclCompileOpt>(99), "x"), ACL_SUCCESS);
  EXPECT_NE(aclSetCompileopt(ACL_PRECISION_MODE, nullptr), ACL_SUCCESS);
}

TEST(SystemParameters, AreRemembered) {
  int64_t value = -1;
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 1);
  EXPECT_NE(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_SUCCESS);
}

TEST(LegacyOps, AreRefusedByName) {
  EXPECT_EQ(aclopSetCompileFlag(ACL_OP_COMPILE_DEFAULT), ACL_SUCCESS);
  recent_message();
  EXPECT_NE(aclopCompileAndExecuteV2("FancyOp", 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                     ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, nullptr),
            ACL_SUCCESS);
  EXPECT_NE(recent_message().find("FancyOp"), std::string::npos);
  EXPECT_NE(aclopCompileAndExecute("OtherOp", 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                   ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, nullptr),
            ACL_SUCCESS);
  EXPECT_NE(recent_message().find("OtherOp"), std::string::npos);
}

}  // namespace
