"""The six models that whole networks are proven on, by the names that reports have for them."""

MODELS = {
    "MobileNetV2": "torchvision:mobilenet_v2@random(seed=1)",
    "EfficientNet-Lite0": "efficientnet_lite0",
    "ResNet-50": "torchvision:resnet50@random(seed=1)",
    "ResNet101V2": "keras:ResNet101V2@random(seed=1)",
    "InceptionV3": "torchvision:inception_v3@random(seed=1)",
    "DenseNet121": "torchvision:densenet121@random(seed=1)",
}
