// Descriptors and attributes of the legacy op path (acl_base.h, acl_op.h). torch-npu fills them before it
// learns that the op is refused, and destroys them afterwards: they only have to exist.
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "emucann/runtime.h"

struct aclDataBuffer {
  void* data;
  size_t bytes;
};

struct aclTensorDesc {
  aclDataType type;
  aclFormat format;
  std::vector<int64_t> sizes;
};

struct aclopAttr {};

extern "C" {

EMUCANN_API aclDataBuffer* aclCreateDataBuffer(void* data, size_t bytes) {
  return new aclDataBuffer{data, bytes};
}

EMUCANN_API aclError aclDestroyDataBuffer(const aclDataBuffer* buffer) {
  delete buffer;
  return ACL_SUCCESS;
}

EMUCANN_API aclTensorDesc* aclCreateTensorDesc(aclDataType type, int count, const int64_t* sizes,
                                               aclFormat format) {
  return new aclTensorDesc{type, format, std::vector<int64_t>(sizes, sizes + count)};
}

EMUCANN_API void aclDestroyTensorDesc(const aclTensorDesc* descriptor) { delete descriptor; }

EMUCANN_API aclDataType aclGetTensorDescType(const aclTensorDesc* descriptor) { return descriptor->type; }

EMUCANN_API aclFormat aclGetTensorDescFormat(const aclTensorDesc* descriptor) { return descriptor->format; }

EMUCANN_API size_t aclGetTensorDescNumDims(const aclTensorDesc* descriptor) {
  return descriptor->sizes.size();
}

EMUCANN_API aclError aclGetTensorDescDimV2(const aclTensorDesc* descriptor, size_t index, int64_t* size) {
  if (index >= descriptor->sizes.size()) {
    return emucann::fail(ACL_ERROR_INVALID_PARAM, "aclGetTensorDescDimV2: no such dimension");
  }
  *size = descriptor->sizes[index];
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclSetTensorFormat(aclTensorDesc* descriptor, aclFormat format) {
  descriptor->format = format;
  return ACL_SUCCESS;
}

EMUCANN_API aclError aclSetTensorShape(aclTensorDesc* descriptor, int count, const int64_t* sizes) {
  descriptor->sizes.assign(sizes, sizes + count);
  return ACL_SUCCESS;
}

EMUCANN_API void aclSetTensorDescName(aclTensorDesc*, const char*) {}
EMUCANN_API aclError aclSetTensorPlaceMent(aclTensorDesc*, aclMemType) { return ACL_SUCCESS; }
EMUCANN_API aclError aclSetTensorConst(aclTensorDesc*, void*, size_t) { return ACL_SUCCESS; }

EMUCANN_API aclopAttr* aclopCreateAttr() { return new aclopAttr; }
EMUCANN_API void aclopDestroyAttr(const aclopAttr* attributes) { delete attributes; }
EMUCANN_API aclError aclopSetAttrBool(aclopAttr*, const char*, uint8_t) { return ACL_SUCCESS; }
EMUCANN_API aclError aclopSetAttrInt(aclopAttr*, const char*, int64_t) { return ACL_SUCCESS; }
EMUCANN_API aclError aclopSetAttrFloat(aclopAttr*, const char*, float) { return ACL_SUCCESS; }
EMUCANN_API aclError aclopSetAttrString(aclopAttr*, const char*, const char*) { return ACL_SUCCESS; }
EMUCANN_API aclError aclopSetAttrDataType(aclopAttr*, const char*, aclDataType) { return ACL_SUCCESS; }
EMUCANN_API aclError aclopSetAttrListBool(aclopAttr*, const char*, int, const uint8_t*) {
  return ACL_SUCCESS;
}
EMUCANN_API aclError aclopSetAttrListInt(aclopAttr*, const char*, int, const int64_t*) { return ACL_SUCCESS; }
EMUCANN_API aclError aclopSetAttrListFloat(aclopAttr*, const char*, int, const float*) { return ACL_SUCCESS; }
EMUCANN_API aclError aclopSetAttrListListInt(aclopAttr*, const char*, int, const int*,
                                             const int64_t* const[]) {
  return ACL_SUCCESS;
}
}
